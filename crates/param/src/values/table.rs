//! One table of a scenario file, checked against the declarations of its keys.

use super::quantity;
use super::{Value, Values, path_of};
use crate::declare::{Param, Variant};
use crate::document::{Content, Table};
use crate::error::{Fault, Origin, SpecError};

/// A table of the file, present or not.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Its path: `network`, `traffic.bursts`.
    pub path: String,
    /// Its contents; none if the file lacks it.
    pub table: Option<&'a Table>,
    /// Its place in the file.
    pub origin: Origin,
}

impl Source<'_> {
    /// An error in `key` of this table, placed at the key if it is present.
    pub fn error(&self, key: &str, fault: impl Into<Fault>) -> SpecError {
        let origin = self.table.and_then(|table| table.find(key)).map_or(&self.origin, |node| &node.origin);
        origin.error(path_of(&self.path, key), fault)
    }
    /// The value written for `param`, if one is.
    pub fn read(&self, param: &Param) -> Result<Option<Value>, SpecError> {
        Ok(self.read_as(param, param.key)?.map(|(value, _)| value))
    }
    /// The value written under `key`, read as one of `param`, with its place.
    pub fn read_as(&self, param: &Param, key: &str) -> Result<Option<(Value, Origin)>, SpecError> {
        let Some(node) = self.table.and_then(|table| table.find(key)) else { return Ok(None) };
        let value = quantity::read(param, &node.content).map_err(|fault| self.error(key, fault))?;
        Ok(Some((value, node.origin.clone())))
    }
    /// The values of all `declared` keys. Required ones may be absent unless the table is `used`.
    pub fn values(&self, declared: &[&'static [Param]], used: bool) -> Result<Values, SpecError> {
        let mut values = Values::defaults(declared);
        for param in declared.iter().flat_map(|params| params.iter()) {
            for (tier, key) in param.tier_keys() {
                if let Some((value, origin)) = self.read_as(param, &key)? {
                    values.write_at(tier, param, value, origin);
                }
            }
            if let Some((value, origin)) = self.read_as(param, param.key)? {
                values.write(param.key, value, origin);
            } else if used && values.lacks(param.key) {
                let kind = param.kind;
                let example =
                    quantity::units(kind).first().map_or(String::new(), |unit| format!(" such as \"10{unit}\""));
                return Err(self.error(param.key, format!("is required: {}{example}", quantity::noun(kind))));
            }
        }
        let values = values.of_table(&self.path, &self.origin);
        values.check_idle()?;
        Ok(values)
    }
}

/// Fails for the first key of `source` that `declared` lacks.
pub fn check_keys(source: &Source<'_>, declared: &[&'static [Param]], others: &[Variant]) -> Result<(), SpecError> {
    unknown_keys(source, declared, others).into_iter().next().map_or(Ok(()), Err)
}

/// An error for each key of `source` that `declared` lacks; it names those of the `others` that have the key.
fn unknown_keys(source: &Source<'_>, declared: &[&'static [Param]], others: &[Variant]) -> Vec<SpecError> {
    let keys = keys(declared.iter().flat_map(|params| params.iter()));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let written = source.table.iter().flat_map(|table| &table.0);
    let unknown = written.into_iter().filter(|(key, _)| !keys.contains(&key.as_str()));
    let error = |(key, _): &(String, _)| {
        let owners = others.iter().filter(|row| self::keys(row.params.iter()).contains(key));
        let owners: Vec<String> = owners.map(|row| format!("{:?}", row.key)).collect();
        let fault = match owners.as_slice() {
            [] => Fault::unknown_name("unknown key", key, &keys),
            owners => format!("is a key of {} only", owners.join(", ")).into(),
        };
        source.error(key, fault)
    };
    unknown.map(error).collect()
}

/// The keys of these declarations: first their own, then those for the ports of single tiers.
fn keys<'a>(params: impl Iterator<Item = &'a Param> + Clone) -> Vec<String> {
    let own = params.clone().map(|param| param.key.to_owned());
    own.chain(params.flat_map(Param::tier_keys).map(|(_, key)| key)).collect()
}

/// An error for each key of `source` that `declared` lacks, and for each value that is not of its kind.
pub fn mistakes(source: &Source<'_>, declared: &[&'static [Param]], others: &[Variant]) -> Vec<SpecError> {
    let mut found = unknown_keys(source, declared, others);
    for param in declared.iter().flat_map(|params| params.iter()) {
        let keys = std::iter::once(param.key.to_owned()).chain(param.tier_keys().map(|(_, key)| key));
        found.extend(keys.filter_map(|key| source.read_as(param, &key).err()));
    }
    found
}

/// The table in `content`, if it is one.
pub fn as_table(content: &Content) -> Result<&Table, Fault> {
    match content {
        Content::Table(table) => Ok(table),
        other => Err(format!("must be a table, not {}", other.noun()).into()),
    }
}
