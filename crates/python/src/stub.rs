//! Stand-in for the engine until it lands. DELETE.
#![allow(unreachable_pub, missing_docs, dead_code, clippy::all, clippy::pedantic)]
use serde_json::{Map, Value, json};
pub use ::fanin_engine::{queue, schemes, topology, traffic};
pub mod measure {
    pub struct Table { pub name: String, pub description: String, pub columns: Vec<Column> }
    pub struct Column { pub name: String, pub unit: String, pub description: String, pub data: Data }
    pub enum Data {
        U64(Vec<u64>), F64(Vec<f64>), OptF64(Vec<Option<f64>>), OptU64(Vec<Option<u64>>), Bool(Vec<bool>),
        Text(Vec<String>), Label { codes: Vec<u32>, names: Vec<String> },
    }
}
pub mod spec {
    use serde_json::{Value, json};
    pub use ::fanin_engine::spec::{Kind, Param};
    pub mod sections { use super::Param; pub const TOPOLOGY: &[Param] = &[]; pub const NETWORK: &[Param] = &[]; pub const QUEUE: &[Param] = &[]; pub const SCHEME: &[Param] = &[]; pub const TRANSPORT: &[Param] = &[Param::new("rto-min", super::Kind::Time, "200ms", "Least retransmission timeout.", "Linux")]; pub const TRAFFIC: &[Param] = &[]; pub const TRAFFIC_OPTIONAL: &[Param] = &[]; pub const CONTROL: &[Param] = &[]; pub const MEASURE: &[Param] = &[]; pub const RUN: &[Param] = &[]; }
    pub struct Scenario { pub value: Value }
    pub struct SpecError { pub file: String, pub line: Option<usize>, pub key: String, pub message: String, pub suggestion: Option<String> }
    pub struct ResolvedRow { pub path: String, pub value: String, pub is_default: bool, pub source: String, pub doc: String }
    pub fn json_schema() -> Value { json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {}}) }
    impl Scenario {
        pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, SpecError> {
            let err = |key: &str, message: String| SpecError { file: file.into(), line: Some(1), key: key.into(), message, suggestion: None };
            let table: toml::Table = text.parse().map_err(|e: toml::de::Error| err("", e.message().to_string()))?;
            let mut value = serde_json::to_value(table).unwrap();
            let o = value.as_object_mut().unwrap();
            for k in ["title", "paper", "figure", "description", "sweep", "plot", "claim", "runs-of"] { o.remove(k); }
            for k in o.keys() {
                if !["network", "transport", "queue", "scheme", "traffic", "run"].contains(&k.as_str()) {
                    return Err(SpecError { suggestion: Some("network".into()), ..err(k, "unknown key".into()) });
                }
            }
            for (k, v) in overrides {
                let parts: Vec<&str> = k.split('.').collect();
                let mut at = &mut value;
                for p in &parts[..parts.len() - 1] {
                    if at.is_array() {
                        at = at.as_array_mut().unwrap().iter_mut().find(|t| t["name"] == *p).ok_or_else(|| err(k, "no such group".into()))?;
                    } else {
                        at = at.as_object_mut().unwrap().entry(p.to_string()).or_insert_with(|| json!({}));
                    }
                }
                at[parts[parts.len() - 1]] = v.parse::<u64>().map(Value::from).unwrap_or_else(|_| json!(v));
            }
            Ok(Self { value })
        }
        pub fn resolved(&self) -> Value { self.value.clone() }
        pub fn resolved_table(&self) -> Vec<ResolvedRow> {
            vec![ResolvedRow { path: "network.rate".into(), value: "1Gbps".into(), is_default: false, source: "file".into(), doc: "Rate".into() }]
        }
    }
}
pub struct Outcome { pub summary: Map<String, Value>, pub tables: Vec<measure::Table>, pub capture: Option<Vec<u8>> }
#[derive(Debug)]
pub struct RunError(String);
impl std::fmt::Display for RunError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(&self.0) } }
pub fn run(s: &spec::Scenario, mut progress: Option<&mut dyn FnMut(f64) -> bool>) -> Result<Outcome, RunError> {
    let seed = s.value["run"]["seed"].as_u64().unwrap_or(1);
    let n = s.value["traffic"].as_array().and_then(|t| t.iter().find_map(|g| g["senders"].as_u64())).unwrap_or(0) + 1;
    let dctcp = s.value["transport"]["scheme"] == "dctcp";
    let knee = if dctcp { 37 } else { 10 };
    for i in 0..4 { if let Some(p) = progress.as_mut() { if !p(i as f64 / 4.0) { return Err(RunError("stopped".into())); } } }
    let noise = ((seed * 7919 + n * 104729) % 1000) as f64 / 1000.0;
    let g = if n < knee { 0.92e9 } else { 0.2e9 } * (1.0 - 0.05 * noise);
    let tr = (n as f64 / (knee as f64 * 1.8)).min(1.0);
    let mut summary = Map::new();
    for (k, v) in [("result_hash", json!(format!("{:016x}", seed * 31 + n * 1000 + u64::from(dctcp)))), ("goodput_bps", json!(g)), ("goodput_finite_bps", json!(g * 0.9)), ("goodput_all_bps", json!(g)),
        ("fct_mean_s", json!(0.1)), ("fct_p99_s", json!(0.2)), ("timeouts", json!(n)), ("timeout_ratio", json!(tr)), ("drops", json!(5)), ("marks", json!(6)), ("would_mark", json!(0)),
        ("queue_mean_packets", json!(20.5)), ("queue_max_packets", json!(100)), ("packet_hops", json!(100000)), ("events", json!(100000)), ("wall_s", json!(0.01)), ("jain", json!(0.9)), ("flows", json!(n)), ("completed", json!(n - 1)), ("incomplete", json!(1))] { summary.insert(k.into(), v); }
    let col = |name: &str, unit: &str, data| measure::Column { name: name.into(), unit: unit.into(), description: format!("the {name}"), data };
    let flows = measure::Table { name: "flows".into(), description: "One row per flow".into(), columns: vec![
        col("flow", "", measure::Data::U64((0..n).collect())), col("bytes", "B", measure::Data::OptU64((0..n).map(|i| (i > 0).then_some(512000)).collect())),
        col("class", "", measure::Data::Label { codes: (0..n).map(|i| u32::from(i > 0)).collect(), names: vec!["background".into(), "bursts".into()] }),
        col("fct", "s", measure::Data::OptF64((0..n).map(|i| (i > 0).then_some(0.1)).collect()))] };
    let queues = measure::Table { name: "queues".into(), description: "One row per queue".into(), columns: vec![col("port", "", measure::Data::Text(vec!["sw1->sw2".into()])), col("lossy", "", measure::Data::Bool(vec![true]))] };
    Ok(Outcome { summary, tables: vec![flows, queues], capture: None })
}
