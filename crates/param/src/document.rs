//! A scenario file as a tree that remembers its lines, with overrides written into it.

use super::error::{Fault, Origin, SpecError};
use super::lines::Lines;
use super::repeated;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A scenario file as TOML: its keys and their lines. What they mean is not checked.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file.
    pub file: Origin,
    root: Table,
}

impl Document {
    /// Reads the TOML in `text`. Errors name the text `file`.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(text: &str, file: &str) -> Result<Self, SpecError> {
        let file = Origin::file(file);
        Ok(Self { root: parse(text, &file)?, file })
    }

    /// The line of the key at a path, or of the innermost table on the way to it that the file has; none without any.
    /// Elements of lists are addressed by their numbers, from 0: `["traffic", "0", "name"]`.
    pub fn line(&self, path: &[String]) -> Option<usize> {
        let mut found = None;
        let mut node = self.root.find(path.first()?)?;
        for part in &path[1..] {
            found = node.origin.line.or(found);
            let inner = match &node.content {
                Content::Table(table) => table.find(part),
                Content::Array(nodes) => part.parse().ok().and_then(|at: usize| nodes.get(at)),
                Content::Scalar(_) => None,
            };
            let Some(inner) = inner else { return found };
            node = inner;
        }
        node.origin.line.or(found)
    }

    /// The same file without the key at a dotted path, if it has that in its tables; traffic groups and faults stay.
    #[must_use]
    pub fn without(&self, path: &str) -> Self {
        let mut found = self.clone();
        let mut table = Some(&mut found.root);
        let mut parts = path.split('.').peekable();
        while let (Some(inner), Some(part)) = (table.take(), parts.next()) {
            if parts.peek().is_none() {
                inner.0.retain(|(key, _)| key != part);
            } else if let Some(Node { content: Content::Table(next), .. }) = inner.find_mut(part) {
                table = Some(next);
            }
        }
        found
    }

    /// What the file has under these top-level `keys`, with `overrides` written into it: pairs of a dotted key path and a
    /// value. Of other tables there are only the names.
    pub fn with(&self, keys: &[&str], overrides: &[(String, String)]) -> Result<Table, SpecError> {
        let own = self.root.0.iter().map(|(key, node)| {
            let node = if keys.contains(&key.as_str()) { node.clone() } else { node.emptied() };
            (key.clone(), node)
        });
        let mut root = Table(own.collect());
        for (path, value) in overrides {
            set(&mut root, path, value)?;
        }
        Ok(root)
    }
}

/// A value of the file and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where its key was written.
    pub origin: Origin,
    /// What it holds.
    pub content: Content,
}

impl Node {
    /// The same place without what is inside of it.
    fn emptied(&self) -> Self {
        let content = match &self.content {
            Content::Scalar(scalar) => Content::Scalar(scalar.clone()),
            Content::Table(_) => Content::Table(Table::default()),
            Content::Array(_) => Content::Array(Vec::new()),
        };
        Self { origin: self.origin.clone(), content }
    }
}

/// What a key holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// A single value.
    Scalar(Scalar),
    /// Keys and values in file order.
    Table(Table),
    /// A list; of tables, if written as `[[name]]`.
    Array(Vec<Node>),
}

/// A single value. Numbers are kept as text, so that a kind can read them exactly.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A quoted string.
    Text(String),
    /// A whole number in decimal digits, perhaps with a sign.
    Integer(String),
    /// A number with a fraction or exponent.
    Float(String),
    /// `true` or `false`.
    Bool(bool),
    /// A date or time of day, which no key takes.
    Date(String),
}

/// Keys and values in file order.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<(String, Node)>);

impl Table {
    /// The value of `key`.
    pub fn find(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }
    fn find_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
    }
    /// The value of `key`; if there is none, a new empty table at `origin`.
    fn table_at(&mut self, key: &str, origin: &Origin) -> &mut Node {
        let at = self.0.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Node { origin: origin.clone(), content: Content::Table(Self::default()) }));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
    fn set(&mut self, key: &str, node: Node) {
        match self.find_mut(key) {
            Some(old) => *old = node,
            None => self.0.push((key.to_owned(), node)),
        }
    }
    /// The text of `key`, if it is one.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.find(key)?.content {
            Content::Scalar(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }
}

impl Content {
    /// A noun phrase for it, for messages.
    pub fn noun(&self) -> String {
        match self {
            Self::Scalar(scalar) => scalar.noun(),
            Self::Table(_) => "a table".to_owned(),
            Self::Array(_) => "a list".to_owned(),
        }
    }
    /// The content of an override: `text` as TOML if it is valid TOML, else as a string.
    pub(crate) fn of_override(text: &str, origin: &Origin) -> Self {
        let parsed = DeValue::parse(text).ok();
        parsed.map_or_else(
            || Self::Scalar(Scalar::Text(text.to_owned())),
            |value| content(value.get_ref(), &Lines::all_at(origin)),
        )
    }
}

impl Scalar {
    /// A noun phrase for it, for messages.
    pub(crate) fn noun(&self) -> String {
        match self {
            Self::Text(text) => format!("the text {text:?}"),
            Self::Integer(text) | Self::Float(text) => format!("the number {text}"),
            Self::Bool(flag) => flag.to_string(),
            Self::Date(text) => format!("the date {text}"),
        }
    }
}

/// Reads the TOML in `text`, the contents of `file`.
pub fn parse(text: &str, file: &Origin) -> Result<Table, SpecError> {
    let lines = Lines::of(text, file);
    let table = DeTable::parse(text).map_err(|error| {
        // An error at the end of the text may have no span; it belongs to the last line that has something.
        let end = text.trim_end().len();
        let at = error.span().map_or(end, |span| span.start.min(end));
        let told = || {
            lines
                .origin(&(at..at))
                .error("", refusal(error.message(), text.lines().nth(lines.line(at).map_or(0, |line| line - 1))))
        };
        repeated::error_at(at, text, &lines).unwrap_or_else(told)
    })?;
    Ok(sorted(table.get_ref(), &lines))
}

/// What is wrong with a text that is not TOML; `line` is the one where that shows.
fn refusal(message: &str, line: Option<&str>) -> String {
    if message.contains("recurs") {
        return "its values or keys are nested too deeply".to_owned();
    }
    let told = line.and_then(unquoted).unwrap_or_else(|| message.to_owned());
    format!("not TOML: {told}")
}

/// What to write for a value that lacks its quotes, such as `5us`.
fn unquoted(line: &str) -> Option<String> {
    let (key, rest) = line.split_once('=')?;
    let (key, value) = (key.trim(), rest.split('#').next()?.trim());
    let is_bare = value.starts_with(|c: char| c.is_alphanumeric() || "_.%+/-".contains(c));
    let is_plain = is_bare && !value.contains(['"', '\'']) && !key.is_empty();
    let told = || format!("values with letters or units are written in quotes: {key} = \"{value}\"");
    (is_plain && DeValue::parse(value).is_err()).then(told)
}

/// Writes `value` at the dotted `path`, in which traffic groups and faults are addressed by name.
fn set(root: &mut Table, path: &str, value: &str) -> Result<(), SpecError> {
    let origin = Origin::overrides();
    let parts: Vec<&str> = path.split('.').collect();
    let [tables @ .., key] = parts.as_slice() else { unreachable!("split yields at least one part") };
    if parts.iter().any(|part| part.is_empty()) {
        return Err(origin.error(path, "not the path of a key, such as \"run.seed\""));
    }
    let node = Node { content: Content::of_override(value, &origin), origin: origin.clone() };
    let mut table = root;
    for (depth, part) in tables.iter().enumerate() {
        let here = || parts[..=depth].join(".");
        table = match &mut table.table_at(part, &origin).content {
            Content::Table(inner) => inner,
            Content::Array(groups) if depth == 0 && matches!(*part, "traffic" | "fault") && parts.len() > 2 => {
                return group(groups, &parts, &origin).and_then(|group| set_in_group(group, &parts, node));
            }
            Content::Array(groups) if depth == 0 && matches!(*part, "traffic" | "fault") => {
                return Err(origin.error(path, without_group(groups, part, key)));
            }
            other => {
                return Err(
                    origin.error(here(), format!("is {}, so it has no key {:?}", other.noun(), parts[depth + 1]))
                );
            }
        };
    }
    table.set(key, node);
    Ok(())
}

/// Writes `node` into a traffic group or a fault; `parts` is the path from the root.
fn set_in_group(group: &mut Table, parts: &[&str], node: Node) -> Result<(), SpecError> {
    let &[_, name, key] = parts else {
        return Err(node.origin.error(parts.join("."), format!("a {} has no tables inside", noun(parts[0]))));
    };
    if key == "kind" && group.find("name").is_none() {
        // Keep the name by which this and later overrides address the group.
        let content = Content::Scalar(Scalar::Text(name.to_owned()));
        group.set("name", Node { origin: node.origin.clone(), content });
    }
    group.set(key, node);
    Ok(())
}

/// A noun for the elements of `list`, for messages.
fn noun(list: &str) -> &'static str {
    if list == "fault" { "fault" } else { "traffic group" }
}

/// The traffic group or fault with which `parts` begins.
fn group<'a>(groups: &'a mut [Node], parts: &[&str], origin: &Origin) -> Result<&'a mut Table, SpecError> {
    let [list, name, ..] = *parts else { unreachable!("the caller has seen both") };
    let Some(at) = groups.iter().position(|node| group_name(node) == Some(name)) else {
        let names: Vec<&str> = groups.iter().filter_map(group_name).collect();
        let what = format!("no such {}", noun(list));
        return Err(origin.error(format!("{list}.{name}"), Fault::unknown_name(&what, name, &names)));
    };
    let Content::Table(table) = &mut groups[at].content else { unreachable!("only a table has a name") };
    Ok(table)
}

/// The fault in a path of two parts, `list` and `key`, which lacks the name of a group or a key in it.
fn without_group(groups: &[Node], list: &str, key: &str) -> String {
    let names: Vec<&str> = groups.iter().filter_map(group_name).collect();
    let noun = noun(list);
    if names.is_empty() {
        return format!("there is no {noun} that could have it");
    }
    if names.contains(&key) {
        return format!("is a {noun}: name one of its keys as well");
    }
    let paths: Vec<String> = names.iter().map(|name| format!("{list}.{name}.{key}")).collect();
    format!("name the {noun} as well: {}", paths.join(" or "))
}

/// The name of a traffic group or fault, by default its kind.
fn group_name(node: &Node) -> Option<&str> {
    match &node.content {
        Content::Table(table) => table.text("name").or_else(|| table.text("kind")),
        _ => None,
    }
}

/// A parsed table with its keys in file order, so that the first mistake in a file is reported first.
fn sorted(table: &DeTable<'_>, lines: &Lines<'_>) -> Table {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let node = |span, value: &Spanned<DeValue<'_>>| Node {
        origin: lines.origin(&span),
        content: content(value.get_ref(), lines),
    };
    Table(entries.into_iter().map(|(key, value)| (key.get_ref().to_string(), node(key.span(), value))).collect())
}

fn content(value: &DeValue<'_>, lines: &Lines<'_>) -> Content {
    Content::Scalar(match value {
        DeValue::String(text) => Scalar::Text(text.to_string()),
        DeValue::Integer(number) => Scalar::Integer(decimal(number.as_str(), number.radix())),
        DeValue::Float(number) => Scalar::Float(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Scalar::Bool(*flag),
        DeValue::Datetime(date) => Scalar::Date(date.to_string()),
        DeValue::Table(table) => return Content::Table(sorted(table, lines)),
        DeValue::Array(array) => {
            let node = |item: &Spanned<DeValue<'_>>| Node {
                origin: lines.origin(&item.span()),
                content: content(item.get_ref(), lines),
            };
            return Content::Array(array.iter().map(node).collect());
        }
    })
}

/// The decimal digits of an integer; a number too large for any key is left as it is and fails later.
fn decimal(digits: &str, radix: u32) -> String {
    i128::from_str_radix(digits, radix).map_or_else(|_| digits.to_owned(), |number| number.to_string())
}
