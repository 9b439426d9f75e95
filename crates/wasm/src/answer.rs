//! Requests and their answers.

use crate::outcome;
use fanin_engine::param::{Files, SpecError};
use fanin_engine::scenario::{Scenario, json_schema};
use fanin_engine::sim::{self, Failure};
use serde_json::{Map, Value, json};
use std::io::{Cursor, Error as IoError, ErrorKind};

/// The answer to a request.
#[derive(Debug, Default)]
pub struct Answer {
    /// `{"value": ...}` or `{"error": ...}`.
    pub json: String,
    /// Columns of tables; the JSON says where each begins.
    pub numbers: Vec<f64>,
}

impl Answer {
    /// What a host reads after a panic, which is a defect of the engine.
    pub fn of_panic(what: &str) -> Self {
        Self { json: json!({ "error": { "kind": "panic", "message": what } }).to_string(), numbers: Vec::new() }
    }
}

/// Why there is no result.
enum Refusal {
    Request(String),
    Scenario(SpecError),
    Run(String),
}

impl From<SpecError> for Refusal {
    fn from(error: SpecError) -> Self {
        Self::Scenario(error)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(error) => Self::Scenario(error),
            Failure::Run(error) => Self::Run(error.to_string()),
        }
    }
}

impl Refusal {
    fn json(&self) -> Value {
        match self {
            Self::Request(message) => json!({ "kind": "request", "message": message }),
            Self::Run(message) => json!({ "kind": "run", "message": message }),
            Self::Scenario(error) => json!({
                "kind": "scenario",
                "file": error.file,
                "line": error.line,
                "key": error.key,
                "message": error.message,
                "suggestion": error.suggestion,
                "more": error.more.iter().map(ToString::to_string).collect::<Vec<_>>(),
            }),
        }
    }
}

/// Answers a request: a JSON object with the operation `op`, and its `scenario`, which has its `toml`, the `name` of the
/// file, and optionally `overrides` (pairs of a path and a value) and `files` (texts by name). `progress` receives the
/// share of simulated time that has passed during a run and returns whether to continue.
pub fn answer(request: &[u8], progress: &mut dyn FnMut(f64) -> bool) -> Answer {
    let mut numbers = Vec::new();
    let found = serde_json::from_slice(request)
        .map_err(|error| Refusal::Request(error.to_string()))
        .and_then(|request: Map<String, Value>| act(&request, progress, &mut numbers));
    let json = match found {
        Ok(value) => json!({ "value": value }),
        Err(refusal) => json!({ "error": refusal.json() }),
    };
    Answer { json: json.to_string(), numbers }
}

fn act(
    request: &Map<String, Value>,
    progress: &mut dyn FnMut(f64) -> bool,
    numbers: &mut Vec<f64>,
) -> Result<Value, Refusal> {
    let operation = request.get("op").and_then(Value::as_str).unwrap_or_default();
    Ok(match operation {
        "version" => fanin_binding::version().into(),
        "registry" => fanin_binding::registry(),
        "schema" => json_schema(),
        "check" => fanin_binding::check(&scenario(request)?)?,
        "loads" => fanin_binding::loads(&scenario(request)?)?,
        "topology" => fanin_binding::network(&scenario(request)?)?,
        "resolved" => fanin_binding::resolved(&scenario(request)?),
        "run" => outcome::describe(&sim::run(&scenario(request)?, Some(progress))?, numbers),
        _ => return Err(Refusal::Request(format!("no operation is called \"{operation}\""))),
    })
}

fn scenario(request: &Map<String, Value>) -> Result<Scenario, Refusal> {
    let request = request.get("scenario").ok_or_else(|| Refusal::Request("there is no scenario".to_owned()))?;
    let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
    let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
    let overrides: Option<Vec<_>> = match request.get("overrides") {
        Some(Value::Array(pairs)) => pairs.iter().map(pair).collect(),
        Some(_) => None,
        None => Some(Vec::new()),
    };
    let overrides = overrides.ok_or_else(|| Refusal::Request("overrides are pairs of texts".to_owned()))?;
    let files = request.get("files").and_then(Value::as_object).cloned().unwrap_or_default();
    let scenario = Scenario::parse(text("toml"), text("name"), &overrides)?;
    Ok(scenario.with_files(Files::new(move |name| match files.get(name).and_then(Value::as_str) {
        Some(content) => Ok(Box::new(Cursor::new(content.to_owned()))),
        None => Err(IoError::new(ErrorKind::NotFound, "the page has no file of that name")),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanin_engine::measure::table::Data;

    const TOML: &str = "[network]\ntopology = \"star\"\nrate = \"1Gbps\"\n\n[transport]\nscheme = \"dctcp\"\n\n[[traffic]]\n\
                        name = \"servers\"\nkind = \"incast\"\nsenders = 3\nbytes-each = \"20KB\"\n";

    fn asked(op: &str, toml: &str, overrides: &Value) -> Value {
        json!({ "op": op, "scenario": { "toml": toml, "name": "a.toml", "overrides": overrides } })
    }

    fn ask(request: &Value) -> (Value, Vec<f64>) {
        let found = answer(request.to_string().as_bytes(), &mut |_| true);
        (serde_json::from_str(&found.json).expect("answers are JSON"), found.numbers)
    }

    #[test]
    fn a_run_is_that_of_the_engine() {
        let (found, numbers) = ask(&asked("run", TOML, &json!([])));
        let scenario = Scenario::parse(TOML, "a.toml", &[]).expect("a valid scenario");
        let outcome = sim::run(&scenario, None).expect("it runs");
        assert_eq!(found["value"]["summary"]["result_hash"], outcome.hash());
        let flows = outcome.table("flows").expect("every run has it");
        assert_eq!(found["value"]["tables"][0]["rows"], flows.rows());
        for (told, column) in
            found["value"]["tables"][0]["columns"].as_array().expect("columns").iter().zip(&flows.columns)
        {
            let at = told["at"].as_u64().expect("a place") as usize;
            assert_eq!(told["name"], column.name);
            if let Data::F64(rows) = &column.data {
                assert_eq!(&numbers[at..at + rows.len()], rows, "{}", column.name);
            }
        }
    }

    #[test]
    fn overrides_and_files_reach_the_scenario() {
        let with = asked("check", TOML, &json!([["traffic.servers.senders", "7"]]));
        assert_eq!(ask(&with).0["value"]["hosts"], 8);
        let flows = "kind = \"flows\"\nfile = \"f.csv\"\n";
        let toml = format!("{}{flows}", &TOML[..TOML.find("kind = \"incast").expect("there")]);
        let without = ask(&asked("run", &toml, &json!([]))).0;
        let message = without["error"]["message"].as_str().expect("an error");
        assert!(message.contains("the page has no file of that name"), "{message}");
    }

    #[test]
    fn errors_name_line_and_key() {
        let toml = TOML.replace("senders", "sender");
        let error = &ask(&asked("check", &toml, &json!([]))).0["error"];
        assert_eq!((&error["kind"], &error["line"]), (&json!("scenario"), &json!(11)), "{error}");
        assert_eq!(error["suggestion"], "senders");
        assert_eq!(ask(&json!({ "op": "dance" })).0["error"]["kind"], "request");
        assert_eq!(ask(&asked("check", TOML, &json!(3))).0["error"]["kind"], "request");
    }

    #[test]
    fn a_run_stops_when_told_to() {
        // The engine asks at events that are no packets, such as samples.
        let size = ["traffic.servers.bytes-each", "2MB"];
        let overrides = json!([size, ["measure.queue-trace", "sampled"], ["measure.queue-sample", "5us"]]);
        let request = asked("run", TOML, &overrides).to_string();
        let stopped = answer(request.as_bytes(), &mut |_| false).json;
        assert!(stopped.contains("\"error\""), "{stopped}");
    }
}
