//! A scenario with every value in effect and its source.

use super::Scenario;
use crate::common::traffic_optional;
use fanin_network::traffic::TrafficGroup;
use fanin_param::error::Origin;
use fanin_param::values::{Value, Values, path_of};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// One value in effect.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedRow {
    /// Path of the key, such as `traffic.bursts.senders`.
    pub path: String,
    /// The scheme whose end points have the value, if those of another scheme in the scenario have another one.
    pub scheme: Option<&'static str>,
    /// The value as in a scenario file, without quotes.
    pub value: String,
    /// The same as a number in the unit of results; a bare number has no unit.
    pub quantity: Option<(f64, &'static str)>,
    /// Where it was set, such as `scenario.toml:12` or `--set`; none for a default.
    pub set_at: Option<String>,
    /// The key beside it and the word there that take its effect away, such as `admission` and `static`.
    pub ignored_with: Option<(&'static str, &'static str)>,
    /// The source of the default.
    pub source: Cow<'static, str>,
    /// What the key means.
    pub doc: &'static str,
}

impl ResolvedRow {
    /// Whether it is a default.
    pub fn is_default(&self) -> bool {
        self.set_at.is_none()
    }
}

/// A value that was set but has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Path of its key.
    pub path: String,
    /// The key and its value that make it ineffective; none if its scheme is not used.
    pub beside: Option<(String, &'static str)>,
}

impl Scenario {
    /// The values that were set but have no effect: those of unused schemes, and those that another key makes
    /// ineffective.
    pub fn unused(&self) -> Vec<Unused> {
        let used: Vec<&str> = self.used_schemes().map(|(key, _)| *key).collect();
        let unused = self.schemes.iter().filter(|(key, _)| !used.contains(key)).map(|(_, values)| values);
        let of_schemes = unused.flat_map(rows).filter(|row| !row.is_default());
        let of_schemes = of_schemes.map(|row| Unused { path: row.path, beside: None });
        let idle = |values: &Values| {
            let path = values.path().to_owned();
            let found = values.ignored().map(move |(key, (other, word))| Unused {
                path: format!("{path}.{key}"),
                beside: Some((format!("{path}.{other}"), word)),
            });
            found.collect::<Vec<_>>()
        };
        of_schemes.chain(self.tables().flat_map(idle)).collect()
    }

    /// Every value in effect, in a canonical form that is equal for all ways to write the same scenario. The
    /// environment itself is left out: it is present as its switch and, unless schemes differ in it, as its stack.
    pub fn resolved(&self) -> Json {
        self.resolved_as(None, &|value| value.into())
    }

    /// The same with each value as `leaf` has it. With a scheme, `[transport]` is whole: it has the values of the scheme's
    /// end points also where schemes differ.
    ///
    /// # Panics
    /// If neither the network nor a traffic group names that scheme.
    pub fn resolved_as(&self, scheme: Option<&str>, leaf: &dyn Fn(&Value) -> Json) -> Json {
        let object = |values| Json::Object(entries(values, leaf).collect());
        let schemes: Map<_, _> = self.used_schemes().map(|(key, values)| ((*key).to_owned(), object(values))).collect();
        let named = |name: &str| (String::from("name"), Json::from(name));
        let traffic = self.traffic.iter().map(|group| {
            let scheme = group.scheme.unwrap_or(self.scheme_key());
            let head = [named(&group.name), (String::from("scheme"), scheme.into())];
            Json::Object(head.into_iter().chain(entries(&group.values, leaf)).collect())
        });
        let faults = self.faults.iter().map(|fault| {
            Json::Object(std::iter::once(named(&fault.name)).chain(entries(&fault.values, leaf)).collect())
        });
        json!({
            "network": object(&self.network.values),
            "queue": object(&self.queue.values),
            "transport": self.resolved_transport(scheme, leaf),
            "scheme": schemes,
            "traffic": traffic.collect::<Vec<_>>(),
            "fault": faults.collect::<Vec<_>>(),
            "control": object(&self.control),
            "measure": object(&self.measure),
            "run": object(&self.run),
        })
    }

    /// A file cannot set different values for each scheme. If the schemes in use have different defaults for a key, it
    /// is left out, and reading the file again restores them. So is `mtu`, another way to write `mss`.
    fn resolved_transport(&self, scheme: Option<&str>, leaf: &dyn Fn(&Value) -> Json) -> Json {
        let values = scheme.map_or(&self.transport, |key| self.transport_of(key));
        let shared = |key: &str| key != "mtu" && (scheme.is_some() || !self.defaults_differ(key));
        entries(values, leaf).filter(|(key, _)| shared(key)).collect::<Map<_, _>>().into()
    }

    /// Whether the schemes in use have different defaults for a key of `[transport]`.
    fn defaults_differ(&self, key: &str) -> bool {
        let value =
            |values: &Values| values.iter().find(|(found, ..)| found == key).map(|(_, _, value, _)| value.clone());
        let first = value(&self.transport);
        self.transports.iter().any(|(_, values)| value(values) != first)
    }

    /// `[transport]` with one row for each value in effect.
    fn transport_rows(&self) -> Vec<ResolvedRow> {
        let mut result = Vec::new();
        for row in rows(&self.transport) {
            let key = row.path.strip_prefix("transport.").unwrap_or(&row.path);
            if !self.defaults_differ(key) {
                result.push(row);
                continue;
            }
            for (scheme, values) in &self.transports {
                let of_scheme = rows(values).find(|other| other.path == row.path).expect("the same keys");
                result.push(ResolvedRow { scheme: Some(scheme), ..of_scheme });
            }
        }
        result
    }

    /// Every value in effect with its origin: the environment, then everything in [`Scenario::resolved`].
    pub fn resolved_table(&self) -> Vec<ResolvedRow> {
        let head = [&self.environment, &self.network.values, &self.queue.values];
        let head = head.into_iter().flat_map(rows).chain(self.transport_rows());
        let schemes = self.used_schemes().map(|(_, values)| values);
        let traffic = self.traffic.iter().flat_map(|group| self.group_rows(group));
        let faults = self.faults.iter().map(|fault| &fault.values);
        let tail = faults.chain([&self.control, &self.measure, &self.run]);
        head.chain(schemes.flat_map(rows)).chain(traffic).chain(tail.flat_map(rows)).collect()
    }

    fn group_rows(&self, group: &TrafficGroup) -> impl Iterator<Item = ResolvedRow> {
        let [_, scheme] = traffic_optional() else { unreachable!("a group has a name and a scheme") };
        let scheme = ResolvedRow {
            path: format!("{}.scheme", group.values.path()),
            scheme: None,
            value: group.scheme.unwrap_or(self.scheme_key()).to_owned(),
            quantity: None,
            set_at: group.scheme_set_at.clone(),
            ignored_with: None,
            source: scheme.source.into(),
            doc: scheme.doc,
        };
        std::iter::once(scheme).chain(rows(&group.values))
    }
}

fn entries(values: &Values, leaf: &dyn Fn(&Value) -> Json) -> impl Iterator<Item = (String, Json)> {
    values.iter().map(move |(key, _, value, _)| (key.into_owned(), leaf(value)))
}

fn rows(values: &Values) -> impl Iterator<Item = ResolvedRow> {
    values.iter().map(|(key, param, value, origin)| ResolvedRow {
        path: path_of(values.path(), &key),
        scheme: None,
        value: value.to_string(),
        quantity: value.quantity(),
        set_at: origin.map(Origin::place),
        ignored_with: param.ignored_with.or(param.idle_with).filter(|(key, word)| values.choice(key) == *word),
        source: values.source_of_default(&key).map_or(param.source.into(), |source| source.to_owned().into()),
        doc: param.doc,
    })
}
