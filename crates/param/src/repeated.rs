//! Where a key that a file gives twice was given first.
//!
//! The reader of TOML refuses the second one, but knows neither the path to it nor the place of the first.

use super::error::SpecError;
use super::lines::Lines;
use std::collections::BTreeMap;
use toml_parser::Source;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};

/// Values that are nested more deeply are no TOML to the reader either.
const DEEPEST: u32 = 80;

/// The error for the key that begins at `at` in `text`, if the same table has it earlier.
pub(crate) fn error_at(at: usize, text: &str, lines: &Lines<'_>) -> Option<SpecError> {
    let mut events = Vec::new();
    let mut keep = |event: Event| events.push(event);
    parse_document(&Source::new(text).lex().into_vec(), &mut RecursionGuard::new(&mut keep, DEEPEST), &mut ());
    let mut keys = Keys::default();
    for event in events {
        let key = keys.read(&event, text);
        if event.kind() == EventKind::SimpleKey && event.span().start() == at {
            let path = key?;
            let first = lines.line(*keys.first.get(&path)?)?;
            let message = format!("is given twice: it is in line {first} already");
            return Some(lines.origin(&(at..at)).error(path.join("."), message));
        }
        if let Some(path) = key {
            keys.first.entry(path).or_insert(event.span().start());
        }
    }
    None
}

/// A table or a list in which keys stand.
#[derive(Default)]
struct Place {
    path: Vec<String>,
    /// The element, in a list.
    item: Option<usize>,
}

/// The keys up to a place in a text.
#[derive(Default)]
struct Keys {
    /// The offset of the first mention of each path.
    first: BTreeMap<Vec<String>, usize>,
    /// The number of tables so far in each `[[list]]`.
    tables: BTreeMap<Vec<String>, usize>,
    /// The table of the last header, and the inline tables and lists that are open in it.
    open: Vec<Place>,
    /// The parts of the latest key.
    parts: Vec<String>,
    /// Whether a dot was the last.
    dotted: bool,
}

impl Keys {
    /// Takes the next event of the text; returns the path of a key.
    fn read(&mut self, event: &Event, text: &str) -> Option<Vec<String>> {
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => self.open.clear(),
            EventKind::StdTableClose | EventKind::InlineTableOpen => self.enter(None),
            EventKind::ArrayTableClose => {
                *self.tables.entry(self.parts.clone()).or_default() += 1;
                self.enter(None);
            }
            EventKind::ArrayOpen => self.enter(Some(0)),
            EventKind::InlineTableClose | EventKind::ArrayClose => {
                self.open.pop();
                self.parts.clear();
            }
            EventKind::ValueSep => {
                if let Some(Place { item: Some(item), .. }) = self.open.last_mut() {
                    *item += 1;
                }
            }
            EventKind::KeySep => self.dotted = true,
            EventKind::SimpleKey => {
                if !std::mem::take(&mut self.dotted) {
                    self.parts.clear();
                }
                if self.parts.len() >= DEEPEST as usize {
                    return None;
                }
                let mut name = String::new();
                Source::new(text).get(event)?.decode_key(&mut name, &mut ());
                self.parts.push(name);
                return Some(self.path());
            }
            _ => {}
        }
        None
    }
    /// Enters the table or list whose key was the latest.
    fn enter(&mut self, item: Option<usize>) {
        let path = self.path();
        self.open.push(Place { path, item });
        self.parts.clear();
    }
    /// The path of the latest key. Below a `[[list]]`, it is that of the list's last table.
    fn path(&self) -> Vec<String> {
        let mut path = Vec::new();
        if let Some(place) = self.open.last() {
            path.clone_from(&place.path);
            path.extend(place.item.map(|item| item.to_string()));
        }
        for part in &self.parts {
            path.extend(self.tables.get(&path).map(|count| (count - 1).to_string()));
            path.push(part.clone());
        }
        path
    }
}
