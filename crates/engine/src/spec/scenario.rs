//! A whole scenario: read, checked, and printed with every value in effect.

use super::document::{self, Content, Node, Table};
use super::error::{Fault, Place, SpecError, misspelt};
use super::files::Files;
use super::params::{Param, Value};
use super::section::{Params, Source, as_table, check_keys, mistakes};
use super::sections::{CONTROL, MEASURE, RUN, SCHEME, TRAFFIC_OPTIONAL, Variants};
use crate::{schemes, tcp};
use serde_json::{Map, json};
use std::borrow::Cow;

/// Top-level keys of a scenario file that the engine reads. Others are somebody else's.
pub const KEYS: &[&str] = &["network", "queue", "transport", "scheme", "traffic", "fault", "control", "measure", "run"];

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// `[network]`, of the kind that its key `topology` names.
    pub network: Section,
    /// `[queue]`, of the kind that its key `kind` names, which may be `auto`.
    pub queue: Section,
    /// `[transport]`, with the defaults of the network's scheme.
    pub transport: Params,
    /// `[[traffic]]`, at least one, in file order.
    pub traffic: Vec<TrafficGroup>,
    /// `[[fault]]`, in file order.
    pub faults: Vec<ScenarioFault>,
    /// `[control]`.
    pub control: Params,
    /// `[measure]`.
    pub measure: Params,
    /// `[run]`.
    pub run: Params,
    /// The files that it names.
    pub files: Files,
    /// `[scheme.<key>]` of every scheme, in registry order.
    schemes: Vec<(&'static str, Params)>,
    /// `[transport]` with the defaults of every scheme in use, in registry order.
    transports: Vec<(&'static str, Params)>,
}

/// A table whose keys depend on its kind.
#[derive(Clone, Debug)]
pub struct Section {
    /// The registry key, or `auto`.
    pub kind: &'static str,
    /// Every value of the table, that of the selecting key among them.
    pub params: Params,
}

/// One `[[traffic]]` group.
#[derive(Clone, Debug)]
pub struct TrafficGroup {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The registry key of its pattern.
    pub kind: &'static str,
    /// The scheme of its end points where that is not the one of `[transport]`.
    pub scheme: Option<&'static str>,
    /// Its other values.
    pub params: Params,
}

/// One `[[fault]]`.
#[derive(Clone, Debug)]
pub struct ScenarioFault {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The registry key of its kind.
    pub kind: &'static str,
    /// Its other values.
    pub params: Params,
}

/// One value in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRow {
    /// Path of the key, such as `traffic.bursts.senders`.
    pub path: String,
    /// The value as a scenario file would write it, without quotes.
    pub value: String,
    /// Whether nobody wrote it.
    pub is_default: bool,
    /// Where the default comes from.
    pub source: Cow<'static, str>,
    /// What the key means.
    pub doc: &'static str,
}

/// A value that was written and does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    /// Path of its key.
    pub path: String,
    /// The path of the key, and its word, beside which it does nothing; none if nobody uses its scheme.
    pub beside: Option<(String, &'static str)>,
}

impl Scenario {
    /// Reads the scenario in `text`, after writing `overrides` into it: pairs of a dotted key path and a value,
    /// such as `("traffic.bursts.senders", "10")`. `file` is what errors call the text.
    ///
    /// # Errors
    /// The first mistake in the text or the overrides, and with it every unknown key and every value that is not of its kind.
    pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, SpecError> {
        let file = Place::file(file);
        let mut root = document::parse(text, &file)?;
        for (path, value) in overrides {
            document::set(&mut root, path, value)?;
        }
        let reader = Reader { root: &root, file: &file };
        let read = reader.top_level().and_then(|()| Self::read(&reader));
        let scenario = read.map_err(|mut first| {
            let others = reader.mistakes().into_iter();
            first.more = others.filter(|other| !other.is_same_as(&first)).collect();
            first
        })?;
        scenario.check_relations()?;
        Ok(scenario)
    }

    fn read(reader: &Reader<'_>) -> Result<Self, SpecError> {
        let network = variant(&Variants::network(), &reader.source("network")?)?;
        let queue = variant(&Variants::queue(), &reader.source("queue")?)?;
        let transport = reader.section("transport", &[SCHEME, tcp::PARAMS])?;
        let traffic = reader.traffic()?;
        let network_scheme = transport.choice("scheme");
        let mut used = vec![network_scheme];
        used.extend(traffic.iter().filter_map(|group| group.scheme));
        let rows = schemes::REGISTRY.iter().filter(|row| used.contains(&row.key));
        let transports: Vec<_> =
            rows.map(|row| (row.key, transport.with_defaults_of(row.key, row.transport))).collect();
        Ok(Self {
            network,
            queue,
            transport: of_scheme(&transports, network_scheme).clone(),
            transports,
            traffic,
            schemes: reader.schemes(&used)?,
            faults: reader.faults()?,
            control: reader.section("control", &[CONTROL])?,
            measure: reader.section("measure", &[MEASURE])?,
            run: reader.section("run", &[RUN])?,
            files: Files::default(),
        })
    }

    /// The same scenario, whose files are opened so.
    #[must_use]
    pub fn with_files(mut self, files: Files) -> Self {
        self.files = files;
        self
    }

    /// What holds between keys rather than for one.
    fn check_relations(&self) -> Result<(), SpecError> {
        for (_, transport) in &self.transports {
            if transport.time("rto-max") < transport.time("rto-min") {
                let least = transport.time("rto-min");
                return Err(transport.fail("rto-max", format!("must be at least rto-min, which is {least}")));
            }
        }
        if self.measure.time("warmup") >= self.run.time("duration") {
            let end = self.run.time("duration");
            return Err(self.measure.fail("warmup", format!("must be below run.duration, which is {end}")));
        }
        Ok(())
    }

    /// The parameters of the scheme called `key`.
    ///
    /// # Panics
    /// If no scheme is registered under that key.
    pub fn scheme(&self, key: &str) -> &Params {
        of_scheme(&self.schemes, key)
    }

    /// `[transport]` for end points of the scheme called `key`, which brings defaults of its own.
    ///
    /// # Panics
    /// If neither the network nor a traffic group names that scheme.
    pub fn transport_of(&self, key: &str) -> &Params {
        of_scheme(&self.transports, key)
    }

    /// The scheme of the network.
    pub fn scheme_key(&self) -> &'static str {
        self.transport.choice("scheme")
    }

    /// Every value in effect, in a canonical form: equal for all ways to write the same scenario.
    pub fn resolved(&self) -> serde_json::Value {
        let schemes: Map<_, _> = self.used_schemes().map(|(key, params)| ((*key).to_owned(), object(params))).collect();
        let traffic: Vec<_> = self.traffic.iter().map(|group| self.resolved_group(group)).collect();
        json!({
            "network": object(&self.network.params),
            "queue": object(&self.queue.params),
            "transport": self.resolved_transport(),
            "scheme": schemes,
            "traffic": traffic,
            "fault": self.faults.iter().map(resolved_fault).collect::<Vec<_>>(),
            "control": object(&self.control),
            "measure": object(&self.measure),
            "run": object(&self.run),
        })
    }

    /// Where schemes in use bring different defaults a file cannot write them for each: then the key is left out, and
    /// reading the file again brings them back.
    fn resolved_transport(&self) -> serde_json::Value {
        let shared = entries(&self.transport).filter(|(key, _)| !self.defaults_differ(key));
        shared.collect::<Map<_, _>>().into()
    }

    /// Whether the schemes in use bring different defaults for a key of `[transport]`.
    fn defaults_differ(&self, key: &str) -> bool {
        let value =
            |params: &Params| params.iter().find(|(param, ..)| param.key == key).map(|(_, value, _)| value.clone());
        let first = value(&self.transport);
        self.transports.iter().any(|(_, params)| value(params) != first)
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
            for (scheme, params) in &self.transports {
                let of_scheme = rows(params).find(|other| other.path == row.path).expect("the same keys");
                result.push(ResolvedRow { path: format!("{} of {scheme}", row.path), ..of_scheme });
            }
        }
        result
    }

    fn resolved_group(&self, group: &TrafficGroup) -> serde_json::Value {
        let scheme = group.scheme.unwrap_or(self.scheme_key());
        let head = [("name", group.name.as_str()), ("scheme", scheme)];
        let mut map: Map<_, _> = head.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        map.extend(entries(&group.params));
        map.into()
    }

    /// Every value in effect with its origin, in the order of [`Scenario::resolved`].
    pub fn resolved_table(&self) -> Vec<ResolvedRow> {
        let head = [&self.network.params, &self.queue.params].into_iter().flat_map(rows).chain(self.transport_rows());
        let schemes = self.used_schemes().map(|(_, params)| params);
        let traffic = self.traffic.iter().flat_map(|group| self.group_rows(group));
        let faults = self.faults.iter().map(|fault| &fault.params);
        let tail = faults.chain([&self.control, &self.measure, &self.run]);
        head.chain(schemes.flat_map(rows)).chain(traffic).chain(tail.flat_map(rows)).collect()
    }

    fn group_rows(&self, group: &TrafficGroup) -> impl Iterator<Item = ResolvedRow> {
        let [_, scheme] = TRAFFIC_OPTIONAL else { unreachable!("a group has a name and a scheme") };
        let scheme = ResolvedRow {
            path: format!("{}.scheme", group.params.path()),
            value: group.scheme.unwrap_or(self.scheme_key()).to_owned(),
            is_default: group.scheme.is_none(),
            source: scheme.source.into(),
            doc: scheme.doc,
        };
        std::iter::once(scheme).chain(rows(&group.params))
    }

    /// The values that were written and do nothing: of schemes that nobody uses, and those that another key makes idle.
    pub fn unused(&self) -> Vec<Unused> {
        let used: Vec<&str> = self.used_schemes().map(|(key, _)| *key).collect();
        let unused = self.schemes.iter().filter(|(key, _)| !used.contains(key)).map(|(_, params)| params);
        let of_schemes = unused.flat_map(rows).filter(|row| !row.is_default);
        let of_schemes = of_schemes.map(|row| Unused { path: row.path, beside: None });
        let idle = |params: &Params| {
            let path = params.path().to_owned();
            let found = params.ignored().map(move |(key, (other, word))| Unused {
                path: format!("{path}.{key}"),
                beside: Some((format!("{path}.{other}"), word)),
            });
            found.collect::<Vec<_>>()
        };
        of_schemes.chain(self.tables().flat_map(idle)).collect()
    }

    /// Every table but those of schemes.
    fn tables(&self) -> impl Iterator<Item = &Params> {
        let head = [&self.network.params, &self.queue.params, &self.transport].into_iter();
        let listed =
            self.traffic.iter().map(|group| &group.params).chain(self.faults.iter().map(|fault| &fault.params));
        head.chain(listed).chain([&self.control, &self.measure, &self.run])
    }

    /// The schemes that the network or a traffic group names, in registry order.
    fn used_schemes(&self) -> impl Iterator<Item = &(&'static str, Params)> {
        let is_used = |key| key == self.scheme_key() || self.traffic.iter().any(|group| group.scheme == Some(key));
        self.schemes.iter().filter(move |(key, _)| is_used(*key))
    }
}

/// The file with its overrides.
struct Reader<'a> {
    root: &'a Table,
    file: &'a Place,
}

impl<'a> Reader<'a> {
    fn top_level(&self) -> Result<(), SpecError> {
        unknown_tables(self.root).into_iter().next().map_or(Ok(()), Err)
    }

    /// Every unknown key and every value that is not of its kind, in the tables that can be made out and in the order of
    /// the file.
    fn mistakes(&self) -> Vec<SpecError> {
        let mut found = unknown_tables(self.root);
        let fixed: [(&str, &[&'static [Param]]); 4] =
            [("transport", &[SCHEME, tcp::PARAMS]), ("control", &[CONTROL]), ("measure", &[MEASURE]), ("run", &[RUN])];
        for (key, declared) in fixed {
            found.extend(all_or(self.source(key), |source| mistakes(source, declared, &[])));
        }
        for (key, variants) in [("network", Variants::network()), ("queue", Variants::queue())] {
            found.extend(all_or(self.source(key), |source| mistakes_in_variant(&variants, source)));
        }
        found.extend(all_or(self.source("scheme"), mistakes_of_schemes));
        for (list, variants) in [("traffic", Variants::traffic()), ("fault", Variants::fault())] {
            let Some(Content::Array(nodes)) = self.root.find(list).map(|node| &node.content) else { continue };
            for node in nodes {
                // A table whose name or kind cannot be read is called as the list is.
                let named = self.named(node, list, &variants).map(|(source, _)| source);
                let unnamed = |_| source(Some(node), list.to_owned(), self.file);
                found.extend(all_or(named.or_else(unnamed), |source| mistakes_in_variant(&variants, source)));
            }
        }
        found.sort_by_key(|error| error.line);
        found
    }

    /// The top-level table `key`.
    fn source(&self, key: &str) -> Result<Source<'a>, SpecError> {
        source(self.root.find(key), key.to_owned(), self.file)
    }

    /// A table of fixed keys.
    fn section(&self, key: &str, declared: &[&'static [Param]]) -> Result<Params, SpecError> {
        let source = self.source(key)?;
        check_keys(&source, declared, &[])?;
        source.params(declared, true)
    }

    /// `[scheme.<key>]` of every scheme; only the `used` ones must be complete.
    fn schemes(&self, used: &[&str]) -> Result<Vec<(&'static str, Params)>, SpecError> {
        let all = self.source("scheme")?;
        if let Some(error) = unknown_schemes(&all).into_iter().next() {
            return Err(error);
        }
        let read = |row: &'static schemes::SchemeRow| {
            let table = all.table.and_then(|table| table.find(row.key));
            let source = source(table, format!("scheme.{}", row.key), &all.place)?;
            check_keys(&source, &[row.params], &[])?;
            Ok((row.key, source.params(&[row.params], used.contains(&row.key))?))
        };
        schemes::REGISTRY.iter().map(read).collect()
    }

    /// `[[traffic]]`.
    fn traffic(&self) -> Result<Vec<TrafficGroup>, SpecError> {
        let node = self.root.find("traffic");
        let place = node.map_or(self.file, |node| &node.place);
        let nodes: &[Node] = match node.map(|node| &node.content) {
            Some(Content::Array(nodes)) => nodes,
            Some(Content::Table(_)) => return Err(place.error("traffic", "is a list: write [[traffic]]")),
            Some(other) => return Err(place.error("traffic", format!("must be [[traffic]], not {}", other.noun()))),
            None => &[],
        };
        if nodes.is_empty() {
            return Err(place.error("traffic", "at least one [[traffic]] is required"));
        }
        let mut groups: Vec<TrafficGroup> = Vec::new();
        for node in nodes {
            let group = self.group(node)?;
            if groups.iter().any(|other| other.name == group.name) {
                let message = format!("two groups are called {:?}; give each a name of its own", group.name);
                return Err(group.params.fail("name", message));
            }
            groups.push(group);
        }
        // An incast of none beside other traffic is a point of a figure; alone it tells nothing.
        if groups.iter().all(|group| group.kind == "incast" && group.params.integer("senders") == 0) {
            return Err(groups[0].params.fail("senders", "must be at least 1, not 0, where there is no other traffic"));
        }
        Ok(groups)
    }

    /// `[[fault]]`.
    fn faults(&self) -> Result<Vec<ScenarioFault>, SpecError> {
        let Some(node) = self.root.find("fault") else { return Ok(Vec::new()) };
        let nodes = match &node.content {
            Content::Array(nodes) => nodes,
            Content::Table(_) => return Err(node.place.error("fault", "is a list: write [[fault]]")),
            other @ Content::Scalar(_) => {
                return Err(node.place.error("fault", format!("must be [[fault]], not {}", other.noun())));
            }
        };
        let mut faults: Vec<ScenarioFault> = Vec::new();
        for node in nodes {
            let variants = Variants::fault();
            let (source, name) = self.named(node, "fault", &variants)?;
            let Section { kind, params } = variant(&variants, &source)?;
            let name = name.unwrap_or_else(|| kind.to_owned());
            if faults.iter().any(|other| other.name == name) {
                return Err(params.fail("name", format!("two faults are called {name:?}; give each a name of its own")));
            }
            faults.push(ScenarioFault { name, kind, params });
        }
        Ok(faults)
    }

    /// One table of the list `list`, whose path ends in its name or else its kind, and the name that it has.
    fn named(
        &self,
        node: &'a Node,
        list: &str,
        variants: &Variants,
    ) -> Result<(Source<'a>, Option<String>), SpecError> {
        let mut source = source(Some(node), list.to_owned(), self.file)?;
        let name = source.read(&variants.optional[0])?.map(|name| name.to_string());
        if let Some(name) = name.as_deref().filter(|name| !is_word(name)) {
            let message = format!("must be of lower-case letters, digits and hyphens, a letter first, not {name:?}");
            return Err(source.error("name", message));
        }
        if let Some(name) = &name {
            source.path = format!("{list}.{name}");
        }
        let kind = source.params(&[variants.selector], true)?.choice(variants.selector[0].key);
        source.path = format!("{list}.{}", name.as_deref().unwrap_or(kind));
        Ok((source, name))
    }

    fn group(&self, node: &'a Node) -> Result<TrafficGroup, SpecError> {
        let variants = Variants::traffic();
        let (source, name) = self.named(node, "traffic", &variants)?;
        let [_, scheme] = variants.optional else { unreachable!("a group has a name and a scheme") };
        let scheme = source.read(scheme)?.map(|value| registered_scheme(&value));
        let Section { kind, params } = variant(&variants, &source)?;
        Ok(TrafficGroup { name: name.unwrap_or_else(|| kind.to_owned()), kind, scheme, params })
    }
}

/// Reads a table whose selector decides on its keys.
fn variant(variants: &Variants, source: &Source<'_>) -> Result<Section, SpecError> {
    let kind = source.params(&[variants.selector], true)?.choice(variants.selector[0].key);
    let row = variants.rows.iter().find(|row| row.key == kind).expect("choices are the rows' keys");
    let declared = [variants.selector, variants.common, row.params];
    check_keys(source, &[&declared[..], &[variants.optional]].concat(), &variants.rows)?;
    Ok(Section { kind, params: source.params(&declared, true)? })
}

/// What `find` finds in a table, or the mistake that it is none.
fn all_or(source: Result<Source<'_>, SpecError>, find: impl FnOnce(&Source<'_>) -> Vec<SpecError>) -> Vec<SpecError> {
    source.map_or_else(|error| vec![error], |source| find(&source))
}

/// The mistakes of a table whose selector decides on its keys. If the selector cannot be read no key is unknown, and only the
/// values of keys that every kind has can be judged.
fn mistakes_in_variant(variants: &Variants, source: &Source<'_>) -> Vec<SpecError> {
    let Ok(selected) = source.params(&[variants.selector], true) else {
        let common = [variants.selector, variants.common, variants.optional].concat();
        return common.iter().filter_map(|param| source.read(param).err()).collect();
    };
    let kind = selected.choice(variants.selector[0].key);
    let row = variants.rows.iter().find(|row| row.key == kind).expect("choices are the rows' keys");
    mistakes(source, &[variants.selector, variants.common, row.params, variants.optional], &variants.rows)
}

fn mistakes_of_schemes(all: &Source<'_>) -> Vec<SpecError> {
    let mut found = unknown_schemes(all);
    for row in schemes::REGISTRY {
        let table = all.table.and_then(|table| table.find(row.key));
        let source = source(table, format!("scheme.{}", row.key), &all.place);
        found.extend(all_or(source, |source| mistakes(source, &[row.params], &[])));
    }
    found
}

fn unknown_schemes(all: &Source<'_>) -> Vec<SpecError> {
    let keys: Vec<&str> = schemes::REGISTRY.iter().map(|row| row.key).collect();
    let written = all.table.iter().flat_map(|table| &table.0);
    let unknown = written.filter(|(key, _)| !keys.contains(&key.as_str()));
    unknown.map(|(key, _)| all.error(key, Fault::unknown_name("unknown scheme", key, &keys))).collect()
}

/// The table that `node` is, if there is a node.
fn source<'a>(node: Option<&'a Node>, path: String, file: &Place) -> Result<Source<'a>, SpecError> {
    let Some(node) = node else { return Ok(Source { path, table: None, place: file.clone() }) };
    match as_table(&node.content) {
        Ok(table) => Ok(Source { path, table: Some(table), place: node.place.clone() }),
        Err(fault) => Err(node.place.error(path, fault)),
    }
}

/// Top-level keys that are a slip for one of the engine's, and all that an override names: it has no other reader.
fn unknown_tables(root: &Table) -> Vec<SpecError> {
    let foreign = root.0.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let unknown = foreign.filter(|(key, node)| node.place.is_override() || misspelt(key, KEYS).is_some());
    unknown.map(|(key, node)| node.place.error(key, Fault::unknown_name("unknown key", key, KEYS))).collect()
}

/// The registry's own text of a scheme that was checked to be in it.
fn registered_scheme(value: &Value) -> &'static str {
    let key = value.to_string();
    schemes::REGISTRY.iter().map(|row| row.key).find(|scheme| *scheme == key).expect("checked as a choice")
}

fn resolved_fault(fault: &ScenarioFault) -> serde_json::Value {
    let mut map: Map<_, _> = [("name".to_owned(), fault.name.clone().into())].into_iter().collect();
    map.extend(entries(&fault.params));
    map.into()
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The values of one scheme.
fn of_scheme<'a>(all: &'a [(&'static str, Params)], key: &str) -> &'a Params {
    let found = all.iter().find(|(scheme, _)| *scheme == key);
    &found.unwrap_or_else(|| panic!("no scheme {key:?}")).1
}

fn object(params: &Params) -> serde_json::Value {
    entries(params).collect::<Map<_, _>>().into()
}

fn entries(params: &Params) -> impl Iterator<Item = (String, serde_json::Value)> {
    params.iter().map(|(param, value, _)| (param.key.to_owned(), value.into()))
}

fn rows(params: &Params) -> impl Iterator<Item = ResolvedRow> {
    params.iter().map(|(param, value, is_default)| ResolvedRow {
        path: format!("{}.{}", params.path(), param.key),
        value: value.to_string(),
        is_default,
        source: params
            .scheme_of_default(param.key)
            .map_or(param.source.into(), |scheme| format!("the scheme {scheme}, whose manual page says why").into()),
        doc: param.doc,
    })
}
