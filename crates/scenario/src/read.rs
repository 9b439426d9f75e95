//! Reads a scenario from a file: each table by its declarations, with every mistake that can be found in one pass.

use super::{KEYS, ScenarioFault, Selected};
use crate::common::{CONTROL, ENVIRONMENT, MEASURE, RUN, Variants, scheme};
use fanin_network::traffic::TrafficGroup;
use fanin_param::Param;
use fanin_param::document::{Content, Node, Table};
use fanin_param::error::{Fault, Origin, SpecError, misspelt};
use fanin_param::values::table::{Source, as_table, check_keys, mistakes};
use fanin_param::values::{Value, Values};
use fanin_schemes as schemes;
use fanin_tcp as tcp;

/// The file with its overrides.
pub(super) struct Reader<'a> {
    pub(super) root: &'a Table,
    pub(super) file: &'a Origin,
}

impl<'a> Reader<'a> {
    pub(super) fn top_level(&self) -> Result<(), SpecError> {
        unknown_tables(self.root).into_iter().next().map_or(Ok(()), Err)
    }

    /// Every unknown key and every value that is not of its kind, in readable tables and in file order.
    pub(super) fn mistakes(&self) -> Vec<SpecError> {
        let mut found = unknown_tables(self.root);
        found.extend(ENVIRONMENT.iter().filter_map(|param| self.whole().read(param).err()));
        let fixed: [(&str, &[&'static [Param]]); 4] = [
            ("transport", &[scheme(), tcp::PARAMS]),
            ("control", &[CONTROL]),
            ("measure", &[MEASURE]),
            ("run", &[RUN]),
        ];
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
                // A table whose name or kind cannot be read has the path of its list.
                let named = self.named(node, list, &variants).map(|(source, _)| source);
                let unnamed = |_| source(Some(node), list.to_owned(), self.file);
                found.extend(all_or(named.or_else(unnamed), |source| mistakes_in_variant(&variants, source)));
            }
        }
        found.sort_by_key(|error| error.line);
        found
    }

    /// The file as a table.
    fn whole(&self) -> Source<'a> {
        Source { path: String::new(), table: Some(self.root), origin: self.file.clone() }
    }

    /// The keys outside the tables.
    pub(super) fn environment(&self) -> Result<Values, SpecError> {
        self.whole().values(&[ENVIRONMENT], true)
    }

    /// The top-level table `key`.
    pub(super) fn source(&self, key: &str) -> Result<Source<'a>, SpecError> {
        source(self.root.find(key), key.to_owned(), self.file)
    }

    /// A table of fixed keys.
    pub(super) fn table(&self, key: &str, declared: &[&'static [Param]]) -> Result<Values, SpecError> {
        let source = self.source(key)?;
        check_keys(&source, declared, &[])?;
        source.values(declared, true)
    }

    /// `[scheme.<key>]` of every scheme; only the `used` ones must be complete.
    pub(super) fn schemes(&self, used: &[&str]) -> Result<Vec<(&'static str, Values)>, SpecError> {
        let all = self.source("scheme")?;
        if let Some(error) = unknown_schemes(&all).into_iter().next() {
            return Err(error);
        }
        let read = |row: &'static schemes::SchemeRow| {
            let table = all.table.and_then(|table| table.find(row.key));
            let source = source(table, format!("scheme.{}", row.key), &all.origin)?;
            check_keys(&source, &[row.params], &[])?;
            Ok((row.key, source.values(&[row.params], used.contains(&row.key))?))
        };
        schemes::all().map(read).collect()
    }

    /// `[[traffic]]`.
    pub(super) fn traffic(&self) -> Result<Vec<TrafficGroup>, SpecError> {
        let node = self.root.find("traffic");
        let origin = node.map_or(self.file, |node| &node.origin);
        let nodes: &[Node] = match node.map(|node| &node.content) {
            Some(Content::Array(nodes)) => nodes,
            Some(Content::Table(_)) => return Err(origin.error("traffic", "is a list: write [[traffic]]")),
            Some(other) => return Err(origin.error("traffic", format!("must be [[traffic]], not {}", other.noun()))),
            None => &[],
        };
        if nodes.is_empty() {
            return Err(origin.error("traffic", "at least one [[traffic]] is required"));
        }
        let mut groups: Vec<TrafficGroup> = Vec::new();
        for node in nodes {
            let group = self.group(node)?;
            if groups.iter().any(|other| other.name == group.name) {
                let message = format!("two groups are called {:?}; give each a name of its own", group.name);
                return Err(group.values.fail("name", message));
            }
            groups.push(group);
        }
        // An incast without senders next to other traffic is a valid point of a figure; alone it is meaningless.
        if groups.iter().all(|group| group.kind == "incast" && group.values.integer("senders") == 0) {
            return Err(groups[0].values.fail("senders", "must be at least 1, not 0, if there is no other traffic"));
        }
        Ok(groups)
    }

    /// `[[fault]]`.
    pub(super) fn faults(&self) -> Result<Vec<ScenarioFault>, SpecError> {
        let Some(node) = self.root.find("fault") else { return Ok(Vec::new()) };
        let nodes = match &node.content {
            Content::Array(nodes) => nodes,
            Content::Table(_) => return Err(node.origin.error("fault", "is a list: write [[fault]]")),
            other @ Content::Scalar(_) => {
                return Err(node.origin.error("fault", format!("must be [[fault]], not {}", other.noun())));
            }
        };
        let mut faults: Vec<ScenarioFault> = Vec::new();
        for node in nodes {
            let variants = Variants::fault();
            let (source, name) = self.named(node, "fault", &variants)?;
            let Selected { kind, values } = variant(&variants, &source)?;
            let name = name.unwrap_or_else(|| kind.to_owned());
            if faults.iter().any(|other| other.name == name) {
                return Err(values.fail("name", format!("two faults are called {name:?}; give each a name of its own")));
            }
            faults.push(ScenarioFault { name, kind, values });
        }
        Ok(faults)
    }

    /// One table of the list `list` and its name. Its path ends in the name, by default the kind.
    fn named(
        &self,
        node: &'a Node,
        list: &str,
        variants: &Variants,
    ) -> Result<(Source<'a>, Option<String>), SpecError> {
        let mut source = source(Some(node), list.to_owned(), self.file)?;
        let name = source.read(&variants.optional[0])?.map(|name| name.to_string());
        if let Some(name) = name.as_deref().filter(|name| !is_word(name)) {
            let message =
                format!("must consist of lower-case letters, digits and hyphens and begin with a letter, not {name:?}");
            return Err(source.error("name", message));
        }
        if let Some(name) = &name {
            source.path = format!("{list}.{name}");
        }
        let kind = source.values(&[variants.selector], true)?.choice(variants.selector[0].key);
        source.path = format!("{list}.{}", name.as_deref().unwrap_or(kind));
        Ok((source, name))
    }

    fn group(&self, node: &'a Node) -> Result<TrafficGroup, SpecError> {
        let variants = Variants::traffic();
        let (source, name) = self.named(node, "traffic", &variants)?;
        let [_, scheme] = variants.optional else { unreachable!("a group has a name and a scheme") };
        let (scheme, scheme_set_at) = source
            .read_as(scheme, scheme.key)?
            .map(|(value, origin)| (registered_scheme(&value), origin.place()))
            .unzip();
        let Selected { kind, values } = variant(&variants, &source)?;
        Ok(TrafficGroup { name: name.unwrap_or_else(|| kind.to_owned()), kind, scheme, scheme_set_at, values })
    }
}

/// Reads a table whose keys depend on a selector.
pub(super) fn variant(variants: &Variants, source: &Source<'_>) -> Result<Selected, SpecError> {
    let kind = source.values(&[variants.selector], true)?.choice(variants.selector[0].key);
    let row = variants.rows.iter().find(|row| row.key == kind).expect("choices are the rows' keys");
    let declared = [variants.selector, variants.common, row.params];
    check_keys(source, &[&declared[..], &[variants.optional]].concat(), &variants.rows)?;
    Ok(Selected { kind, values: source.values(&declared, true)? })
}

/// The mistakes that `find` finds in a table, or the one that it is no table.
fn all_or(source: Result<Source<'_>, SpecError>, find: impl FnOnce(&Source<'_>) -> Vec<SpecError>) -> Vec<SpecError> {
    source.map_or_else(|error| vec![error], |source| find(&source))
}

/// The mistakes of a table whose keys depend on a selector. If the selector cannot be read, only the values of keys
/// common to all kinds can be checked, and no key is unknown.
fn mistakes_in_variant(variants: &Variants, source: &Source<'_>) -> Vec<SpecError> {
    let Ok(selected) = source.values(&[variants.selector], true) else {
        let common = [variants.selector, variants.common, variants.optional].concat();
        return common.iter().filter_map(|param| source.read(param).err()).collect();
    };
    let kind = selected.choice(variants.selector[0].key);
    let row = variants.rows.iter().find(|row| row.key == kind).expect("choices are the rows' keys");
    mistakes(source, &[variants.selector, variants.common, row.params, variants.optional], &variants.rows)
}

fn mistakes_of_schemes(all: &Source<'_>) -> Vec<SpecError> {
    let mut found = unknown_schemes(all);
    for row in schemes::all() {
        let table = all.table.and_then(|table| table.find(row.key));
        let source = source(table, format!("scheme.{}", row.key), &all.origin);
        found.extend(all_or(source, |source| mistakes(source, &[row.params], &[])));
    }
    found
}

fn unknown_schemes(all: &Source<'_>) -> Vec<SpecError> {
    let keys: Vec<&str> = schemes::all().map(|row| row.key).collect();
    let written = all.table.iter().flat_map(|table| &table.0);
    let unknown = written.filter(|(key, _)| !keys.contains(&key.as_str()));
    unknown.map(|(key, _)| all.error(key, Fault::unknown_name("unknown scheme", key, &keys))).collect()
}

/// The table in `node`, if there is a node.
fn source<'a>(node: Option<&'a Node>, path: String, file: &Origin) -> Result<Source<'a>, SpecError> {
    let Some(node) = node else { return Ok(Source { path, table: None, origin: file.clone() }) };
    match as_table(&node.content) {
        Ok(table) => Ok(Source { path, table: Some(table), origin: node.origin.clone() }),
        Err(fault) => Err(node.origin.error(path, fault)),
    }
}

/// Top-level keys that are misspellings of the engine's, and all unknown ones in overrides, which have no other reader.
fn unknown_tables(root: &Table) -> Vec<SpecError> {
    let foreign = root.0.iter().filter(|(key, _)| !KEYS.contains(&key.as_str()));
    let unknown = foreign.filter(|(key, node)| node.origin.is_override() || misspelt(key, KEYS).is_some());
    unknown.map(|(key, node)| node.origin.error(key, Fault::unknown_name("unknown key", key, KEYS))).collect()
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The registry's static text for a scheme that was checked to be in it.
fn registered_scheme(value: &Value) -> &'static str {
    let key = value.to_string();
    schemes::all().map(|row| row.key).find(|scheme| *scheme == key).expect("checked as a choice")
}
