//! The JSON Schema of a scenario file, for editors.

use super::common::{CONTROL, ENVIRONMENT, MEASURE, RUN, Variants, scheme};
use fanin_param::values::{quantity, workload};
use fanin_param::{Kind, Param, STEADY, Variant};
use fanin_schemes as schemes;
use fanin_tcp as tcp;
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) of the keys that the engine reads. Readers of other keys add them to the properties.
pub fn json_schema() -> Value {
    let tables = [
        ("network", variants(&Variants::network(), "The network.")),
        ("queue", variants(&Variants::queue(), "Queue discipline of the switch ports.")),
        ("transport", table(&[scheme(), tcp::PARAMS], "TCP below every scheme.")),
        ("scheme", schemes()),
        ("traffic", traffic()),
        ("fault", faults()),
        ("control", table(&[CONTROL], "The channel between switches and a scheme's controller.")),
        ("measure", table(&[MEASURE], "What is recorded besides flows and queries.")),
        ("run", table(&[RUN], "Duration and seed.")),
    ];
    let keys = ENVIRONMENT.iter().map(|param| (param.key, property(param)));
    let properties: Map<_, _> = keys.chain(tables).map(|(key, schema)| (key.to_owned(), schema)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Fanin scenario",
        "type": "object",
        "properties": properties,
        "required": ["network", "traffic"],
        "additionalProperties": false,
    })
}

fn schemes() -> Value {
    let tables: Map<_, _> =
        schemes::REGISTRY.iter().map(|row| (row.key.to_owned(), table(&[row.params], row.summary))).collect();
    json!({
        "type": "object",
        "description": "Parameters of each scheme; those of unused schemes have no effect.",
        "properties": tables,
        "additionalProperties": false,
    })
}

fn traffic() -> Value {
    json!({
        "type": "array",
        "description": "The traffic groups.",
        "minItems": 1,
        "items": variants(&Variants::traffic(), "A group of transfers."),
    })
}

fn faults() -> Value {
    json!({
        "type": "array",
        "description": "The faults.",
        "items": variants(&Variants::fault(), "A fault."),
    })
}

/// A table of fixed keys.
fn table(declared: &[&[Param]], description: &str) -> Value {
    let params = || declared.iter().flat_map(|params| params.iter());
    let of_tiers = params().flat_map(|param| param.tier_keys().map(|(tier, key)| (key, of_tier(param, tier))));
    let properties: Map<_, _> = params().map(|param| (param.key.to_owned(), property(param))).chain(of_tiers).collect();
    let required: Vec<&str> = params().filter(|param| param.default.is_empty()).map(|param| param.key).collect();
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// A table with a closed set of keys for each value of its selector.
///
/// It uses conditions rather than `oneOf`, so that an editor can name the wrong key.
fn variants(variants: &Variants, description: &str) -> Value {
    let selector = &variants.selector[0];
    let required: &[&str] = if selector.default.is_empty() { &[selector.key] } else { &[] };
    let form = |row: &Variant| {
        let mut form = table(&[variants.selector, variants.common, row.params], row.summary);
        for param in variants.optional {
            form["properties"][param.key] = optional(param);
        }
        // An absent selector satisfies `properties`, so only the condition of the default may omit `required`.
        let needs: &[&str] = if row.key == selector.default { &[] } else { &[selector.key] };
        json!({"if": {"properties": {selector.key: {"const": row.key}}, "required": needs}, "then": form})
    };
    let forms: Vec<Value> = variants.rows.iter().map(form).collect();
    let choice = property(selector);
    json!({
        "type": "object",
        "description": description,
        "properties": {selector.key: choice},
        "required": required,
        "allOf": forms,
    })
}

/// A key whose default depends on others; its source describes the default.
fn optional(param: &Param) -> Value {
    let mut schema = property(param);
    schema["description"] = format!("{} Default: {}.", param.doc, param.source).into();
    if param.kind == Kind::Text {
        schema["pattern"] = "^[a-z][a-z0-9-]*$".into();
    }
    schema
}

/// A key for the ports of a tier.
fn of_tier(param: &Param, tier: &str) -> Value {
    let mut schema = of_kind(param);
    schema["description"] = format!("{} At the ports of {tier}-rate; default: {}.", param.doc, param.key).into();
    schema
}

fn property(param: &Param) -> Value {
    let mut schema = of_kind(param);
    schema["description"] = description(param).into();
    if let Ok(default) = quantity::read_text(param, param.default)
        && !param.default.is_empty()
        && param.rule.is_none()
    {
        schema["default"] = (&default).into();
    }
    schema
}

/// The declaration's sentence, and the source of the default.
fn description(param: &Param) -> String {
    if param.default.is_empty() {
        return param.doc.to_owned();
    }
    format!("{} Default: {} ({}).", param.doc, param.default_in_words(), param.source)
}

fn of_kind(param: &Param) -> Value {
    let mut number = json!({"minimum": param.min});
    let max = quantity::upper_bound(param);
    if max.is_finite() {
        number["maximum"] = max.into();
    }
    let numeric = |of: &str| {
        let mut schema = number.clone();
        schema["type"] = of.into();
        schema
    };
    match param.kind {
        Kind::Time | Kind::Bytes | Kind::Size | Kind::Rate | Kind::Window | Kind::Sizes => {
            json!({"type": "string", "pattern": pattern(param.kind)})
        }
        Kind::Start => {
            json!({"anyOf": [{"type": "string", "pattern": pattern(Kind::Time)}, {"const": STEADY}]})
        }
        Kind::Fraction => {
            let text = json!({"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)? ?%|[0-9]+/[0-9]+)$"});
            json!({"anyOf": [numeric("number"), text]})
        }
        Kind::Number => numeric("number"),
        Kind::Integer => numeric("integer"),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Text => json!({"type": "string"}),
        Kind::Choice(words) => {
            // A choice that consists of digits may be written as a number.
            let numbers = words.iter().filter_map(|word| word.parse::<u64>().ok()).map(Value::from);
            let names = words.iter().copied().chain(param.short.iter().map(|(name, _)| *name));
            json!({"enum": names.map(Value::from).chain(numbers).collect::<Vec<_>>()})
        }
    }
}

/// The pattern of texts for a kind with units.
fn pattern(kind: Kind) -> String {
    const PREFIX: &str = "([kKMGT]|[KMGT]i)?";
    let unit = match kind {
        Kind::Time => "[pnum]?s".to_owned(),
        Kind::Rate => format!("{PREFIX}[bB](ps|/s)"),
        Kind::Size => format!("(pkt|{PREFIX}B)"),
        Kind::Window => format!("(mss|{PREFIX}B)"),
        _ => format!("{PREFIX}B"),
    };
    if kind == Kind::Sizes {
        let size = format!(r"[0-9]+(\.[0-9]+)? ?{unit}");
        let share = format!(r"{size} [0-9]+(\.[0-9]+)?%");
        let named = workload::KEYS.join("|");
        return format!("^({size}|(cdf )?{share}( ?, ?{share})*|{named})$");
    }
    format!(r"^[0-9]+(\.[0-9]+)? ?{unit}$")
}
