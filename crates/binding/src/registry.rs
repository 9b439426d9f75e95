//! The registries: everything that a scenario can name, with its parameters, and everything that a run measures.

use crate::measures;
use fanin_engine::param::{Kind, Param, STEADY, WORKLOADS, workloads};
use fanin_engine::scenario::common;
use fanin_engine::scenario::environment::{self, EnvironmentRow, Setting};
use fanin_engine::schemes::{self, Reading, SchemeRow, Wish};
use fanin_engine::sim;
use fanin_engine::traffic::{self, TrafficRow};
use fanin_engine::{fault, queue, tcp, topology};
use serde_json::{Map, Value, json};

/// Everything that a scenario can name, with its parameters, and everything that a run measures.
pub fn registry() -> Value {
    let schemes = schemes::simulated().map(scheme);
    let kernel_schemes = schemes::KERNEL.iter().map(scheme);
    let added_schemes = schemes::added().into_iter().map(scheme);
    let faults = fault::REGISTRY.iter().map(|row| entry(row.key, row.summary, "", row.params));
    let topologies = topology::REGISTRY.iter().map(|row| entry(row.key, row.summary, "", row.params));
    let queues = queue::REGISTRY.iter().map(|row| entry(row.key, row.summary, "", row.params));
    let traffic = traffic::REGISTRY.iter().map(pattern);
    let environments = environment::REGISTRY.iter().map(environment);
    json!({
        "environments": environments.collect::<Vec<_>>(),
        "schemes": schemes.collect::<Vec<_>>(),
        "kernel_schemes": kernel_schemes.collect::<Vec<_>>(),
        "added_schemes": added_schemes.collect::<Vec<_>>(),
        "topologies": topologies.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
        "traffic": traffic.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
        "workloads": workloads(),
        "totals": measures::totals(),
        "tables": measures::tables(),
        "keys": parameters(&[common::ENVIRONMENT]),
        "sections": {
            "network": parameters(&[common::TOPOLOGY, common::NETWORK]),
            "queue": parameters(&[common::QUEUE]),
            "transport": parameters(&[common::scheme(), tcp::PARAMS]),
            "traffic": parameters(&[common::TRAFFIC, common::traffic_optional(), common::TRAFFIC_COMMON]),
            "fault": parameters(&[common::FAULT, common::FAULT_OPTIONAL, fault::COMMON]),
            "control": parameters(&[common::CONTROL]),
            "measure": parameters(&[common::MEASURE]),
            "run": parameters(&[common::RUN]),
        },
    })
}

fn scheme(row: &SchemeRow) -> Value {
    let mut found = entry(row.key, row.summary, row.manual, row.params);
    let stack = row.stack().into_iter().flat_map(|key| environment::find(key).stack);
    let stack = stack.map(|setting| (setting.key.to_string(), json!(setting.value)));
    let wishes = row.transport.iter().filter_map(|wish| match wish {
        Wish::Needs(key, value) | Wish::Prefers(key, value) => Some(((*key).to_string(), json!(value))),
        Wish::Stack(_) => None,
    });
    let reading = |reading: &Reading| json!({ "id": reading.id, "text": reading.text, "params": reading.params });
    found["transport"] = Value::Object(stack.chain(wishes).collect());
    found["prefers"] = row.transport.iter().filter_map(preferred).collect::<Map<_, _>>().into();
    found["stack"] = json!(row.stack());
    found["effort"] = json!(row.effort.key());
    found["needs"] = json!(row.needs);
    found["reacts_to"] = row.reacts_to.iter().map(|signal| signal.key()).collect();
    found["colour"] = json!(row.colour);
    found["marker"] = json!(row.marker);
    found["readings"] = row.readings.iter().map(reading).collect();
    found
}

/// What a stack may overrule, as a key of `[transport]` and its value.
fn preferred(wish: &Wish) -> Option<(String, Value)> {
    match wish {
        Wish::Prefers(key, value) => Some(((*key).to_string(), json!(value))),
        Wish::Needs(..) | Wish::Stack(_) => None,
    }
}

fn environment(row: &EnvironmentRow) -> Value {
    let settings = |settings: &[Setting], section: &str| -> Vec<Value> {
        let path = |key: &str| if key.contains('.') { key.to_string() } else { format!("{section}.{key}") };
        let row = |each: &Setting| json!({ "path": path(each.key), "value": each.value, "source": each.source });
        settings.iter().map(row).collect()
    };
    let mut found = entry(row.key, row.summary, row.manual, &[]);
    let short = environment::SHORT_NAMES.iter().find(|(_, key)| *key == row.key);
    found["short"] = json!(short.map_or("", |(name, _)| *name));
    found["stack"] = settings(row.stack, "transport").into();
    found["switch"] = settings(row.switch, "network").into();
    found
}

fn pattern(row: &TrafficRow) -> Value {
    let mut found = entry(row.key, row.summary, "", row.params);
    found["fan_in"] = json!(row.fan_in);
    found
}

fn entry(key: &str, summary: &str, manual: &str, params: &[Param]) -> Value {
    json!({ "key": key, "summary": summary, "manual": manual, "params": parameters(&[params]) })
}

fn parameters(declared: &[&[Param]]) -> Vec<Value> {
    declared.iter().flat_map(|params| params.iter()).map(parameter).collect()
}

fn parameter(param: &Param) -> Value {
    json!({
        "key": param.key,
        "takes": takes(param.kind),
        "words": words(param),
        "default": param.default_in_words(),
        "follows": param.rule.map(|rule| rule.key().map_or_else(|| "network".to_owned(), |key| format!("network.{key}"))),
        "doc": param.doc,
        "source": param.source,
        "reading": param.reading,
        "tiers": param.tier_keys().map(|(_, key)| key).collect::<Vec<_>>(),
    })
}

/// The values that a key can take, if they are listed.
fn words(param: &Param) -> Vec<&'static str> {
    match param.kind {
        Kind::Bool => vec!["true", "false"],
        Kind::Choice(words) => words.to_vec(),
        Kind::Sizes => WORKLOADS.to_vec(),
        Kind::Start => vec![STEADY],
        Kind::Text if param.key == "probes" => sim::probe_names(),
        _ => Vec::new(),
    }
}

/// The form of a kind of value in a scenario file.
fn takes(kind: Kind) -> String {
    match kind {
        Kind::Start => "time such as \"33us\", or \"steady\"".to_string(),
        Kind::Time => "time such as \"33us\"".to_string(),
        Kind::Bytes => "bytes such as \"512KB\" or \"64KiB\"".to_string(),
        Kind::Size => "bytes or packets such as \"150KB\" or \"100pkt\"".to_string(),
        Kind::Rate => "rate such as \"1Gbps\"".to_string(),
        Kind::Fraction => "share such as 0.3, \"30%\" or \"1/16\"".to_string(),
        Kind::Number => "number".to_string(),
        Kind::Integer => "whole number".to_string(),
        Kind::Bool => "true or false".to_string(),
        Kind::Text => "text".to_string(),
        Kind::Choice(words) => words.join(" | "),
        Kind::Window => "segments or bytes such as \"2mss\" or \"2920B\"".to_string(),
        Kind::Sizes => {
            "size such as \"64KB\", shares such as \"1MB 50%, 4MB 50%\", points such as \"cdf 2KB 0%, 98KB 100%\", or a \
             workload such as \"web-search\""
                .to_string()
        }
    }
}
