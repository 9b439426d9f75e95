//! The schema, compared with files that the parser accepts and refuses.

use super::{FOREIGN, WHOLE, parse};
use crate::{KEYS, json_schema};
use serde_json::Value;

/// Whether `value` satisfies `schema`, for the part of JSON Schema that ours uses except patterns.
fn satisfies(value: &Value, schema: &Value) -> bool {
    let all = |key: &str, test: &dyn Fn(&Value) -> bool| schema.get(key).is_none_or(test);
    let is_type = |name: &Value| match name.as_str().expect("one type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    };
    let within = |key: &str, ok: &dyn Fn(f64, f64) -> bool| {
        value.as_f64().is_none_or(|n| all(key, &|bound| ok(n, bound.as_f64().expect("a number"))))
    };
    let list = |schemas: &Value| schemas.as_array().expect("a list").iter().filter(|s| satisfies(value, s)).count();
    all("type", &is_type)
        && all("const", &|expected| expected == value)
        && all("enum", &|words| words.as_array().expect("a list").contains(value))
        && all("allOf", &|schemas| list(schemas) == schemas.as_array().map_or(0, Vec::len))
        && all("then", &|then| !satisfies(value, &schema["if"]) || satisfies(value, then))
        && all("anyOf", &|schemas| list(schemas) > 0)
        && within("minimum", &|n, least| n >= least)
        && within("maximum", &|n, most| n <= most)
        && value.as_array().is_none_or(|items| {
            items.len() as u64 >= schema["minItems"].as_u64().unwrap_or(0)
                && all("items", &|schema| items.iter().all(|item| satisfies(item, schema)))
        })
        && value.as_object().is_none_or(|map| {
            all("required", &|keys| {
                keys.as_array().expect("a list").iter().all(|key| map.contains_key(key.as_str().unwrap()))
            }) && map.iter().all(|(key, value)| match schema["properties"].get(key) {
                Some(schema) => satisfies(value, schema),
                None => schema.get("additionalProperties") != Some(&Value::Bool(false)),
            })
        })
}

/// The keys that the engine reads in a file or takes for misspellings of its own.
fn toml(text: &str) -> Value {
    let mut table = toml::from_str::<toml::Table>(text).unwrap();
    table.retain(|key: &str, _| !FOREIGN.contains(&key));
    serde_json::to_value(table).unwrap()
}

#[test]
fn accepts_what_the_parser_accepts() {
    let schema = json_schema();
    assert!(satisfies(&toml(WHOLE), &schema));
    assert!(satisfies(&parse(WHOLE).unwrap().resolved(), &schema));
    let no_kind = WHOLE.replace("[queue]\nkind = \"drop-tail\"", "[queue]");
    assert!(satisfies(&toml(&no_kind), &schema));
    assert!(parse(&no_kind).is_ok());
}

#[test]
fn refuses_what_the_parser_refuses() {
    let schema = json_schema();
    for (old, new) in [
        ("buffer =", "bufer ="),
        ("\"star\"", "\"moon\""),
        ("topology = \"star\"\n", ""),
        ("\"10ms\"", "10"),
        ("senders = 49\n", ""),
        ("senders = 49", "senders = 49\nrounds = 0"),
        ("seed = 7", "seed = 7.5"),
        ("[control]", "[controls]"),
        ("[scheme.dctcp]", "[scheme.dctpc]"),
        ("queues = \"all\"", "queues = \"most\""),
        ("sack = true", "sack = \"yes\""),
        ("loss = \"1%\"", "loss = 1.5"),
    ] {
        let text = WHOLE.replacen(old, new, 1);
        assert!(parse(&text).is_err(), "{new}");
        assert!(!satisfies(&toml(&text), &schema), "{new}");
    }
}

#[test]
fn tells_what_editors_show() {
    let schema = json_schema();
    let transport = &schema["properties"]["transport"]["properties"];
    assert_eq!(transport["rto-initial"]["default"], "1s");
    assert_eq!(transport["rto-initial"]["pattern"], r"^[0-9]+(\.[0-9]+)? ?[pnum]?s$");
    assert_eq!(
        transport["rto-initial"]["description"],
        "Retransmission timeout before the first round-trip sample. Default: 1s (RFC 6298, section 2.1)."
    );
    assert_eq!(transport["ack-every"]["default"], 1);
    assert_eq!(transport["duplicate-ack-window"]["enum"], serde_json::json!(["same", "any"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), KEYS.len());
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
