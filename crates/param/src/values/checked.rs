//! The checked values of one table.

use super::quantity;
use super::{Sizes, Value, Window};
use crate::declare::{Kind, Param};
use crate::error::{Fault, Origin, SpecError};
use fanin_core::units::{Bytes, Rate, Size, Time};
use std::borrow::Cow;
use std::sync::Arc;

/// The checked values of one table of a scenario: one for each declared key, whether written or a default.
///
/// The typed accessors panic for a key that is not declared with that type, which no scenario can cause.
#[derive(Clone, Debug)]
pub struct Values {
    path: String,
    origin: Origin,
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
struct Item {
    param: &'static Param,
    /// The tier whose ports alone have it; none for all that have no value of their own.
    tier: Option<&'static str>,
    /// None only for a required key that is not needed: of an unused scheme, or in a test.
    value: Option<Value>,
    /// Where it was set; none for a default.
    origin: Option<Origin>,
    /// The source of its default, if that is not the declared one.
    source: Option<Arc<str>>,
}

impl Item {
    fn key(&self) -> Cow<'static, str> {
        self.tier.map_or(self.param.key.into(), |tier| format!("{tier}-{}", self.param.key).into())
    }
    fn is(&self, key: &str) -> bool {
        match self.tier {
            None => self.param.key == key,
            Some(_) => self.key() == key,
        }
    }
}

impl Values {
    /// The defaults of `declared`, for tests. Required keys have no value and panic when asked for.
    ///
    /// # Panics
    /// If a declared default is not a value of its kind.
    pub fn defaults(declared: &[&'static [Param]]) -> Self {
        let items = declared.iter().flat_map(|params| params.iter());
        let item = |param| Item { param, tier: None, value: default(param), origin: None, source: None };
        let items = items.map(item).collect();
        Self { path: "params".to_owned(), origin: Origin::file("defaults"), items }
    }

    /// The same values with `key` set to `value`.
    ///
    /// # Panics
    /// If the key is not declared or the value is not of its kind.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        let origin = self.origin.clone();
        let at = self.index(key);
        let item = &mut self.items[at];
        match quantity::read_text(item.param, value) {
            Ok(value) => item.value = Some(value),
            Err(fault) => panic!("{key} = {value:?}: {}", fault.message),
        }
        item.origin = Some(origin);
        self
    }

    /// Sets the value that was written for `key`, with its place.
    pub(crate) fn write(&mut self, key: &str, value: Value, origin: Origin) {
        let at = self.index(key);
        (self.items[at].value, self.items[at].origin) = (Some(value), Some(origin));
    }
    /// Adds the value that was written for the ports of a tier alone, with its place.
    pub(crate) fn write_at(&mut self, tier: &'static str, param: &'static Param, value: Value, origin: Origin) {
        self.items.push(Item { param, tier: Some(tier), value: Some(value), origin: Some(origin), source: None });
    }
    /// The keys that were written for the ports of single tiers, each with its tier.
    pub fn tiers(&self) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
        self.items.iter().filter_map(|item| Some((item.tier?, item.key())))
    }
    /// The values for the ports of a tier.
    #[must_use]
    pub fn at_tier(&self, tier: &str) -> Self {
        let mut values = self.clone();
        let (own, others) = values.items.into_iter().partition(|item| item.tier.is_some());
        values.items = others;
        for Item { param, value, origin, .. } in own.into_iter().filter(|item: &Item| item.tier == Some(tier)) {
            let at = values.index(param.key);
            (values.items[at].value, values.items[at].origin) = (value, origin);
        }
        values
    }
    /// Whether `key` has neither a value nor a default.
    pub(crate) fn lacks(&self, key: &str) -> bool {
        self.items[self.index(key)].value.is_none()
    }
    /// The same values, of the table at `path`.
    #[must_use]
    pub(crate) fn of_table(mut self, path: &str, origin: &Origin) -> Self {
        (self.path, self.origin) = (path.to_owned(), origin.clone());
        self
    }

    /// The same values, with `value` as the default of `key`; `source` is its source.
    ///
    /// # Panics
    /// If the key is not declared or the value is not of its kind.
    #[must_use]
    pub fn or(self, key: &str, value: &str, source: impl Into<Arc<str>>) -> Self {
        if self.is_default(key) { self.settled(key, value, source) } else { self }
    }
    /// The same values with `value` in place of a word such as `auto`, even if the file set that word.
    ///
    /// # Panics
    /// As [`Values::or`].
    #[must_use]
    pub fn settled(self, key: &str, value: &str, source: impl Into<Arc<str>>) -> Self {
        let source = source.into();
        match self.derived(key, value, source.clone()) {
            Ok(values) => values,
            Err(why) => panic!("{key} = {value:?} of {source}: {why}"),
        }
    }
    /// The same values, with `value` as the default of `key` because of what the file has for another key.
    ///
    /// # Errors
    /// Why it is no value of `key`.
    pub fn derived(mut self, key: &str, value: &str, source: impl Into<Arc<str>>) -> Result<Self, String> {
        let at = self.index(key);
        let item = &mut self.items[at];
        item.value = Some(quantity::read_text(item.param, value).map_err(|fault| fault.message)?);
        item.source = Some(source.into());
        Ok(self)
    }
    /// The same values, with the defaults that follow from a rate of `network`, or for `[network]` itself from its own.
    /// Defaults that come from elsewhere stay.
    pub fn follow(mut self, network: Option<&Self>) -> Result<Self, SpecError> {
        // Rates first: the slowest link is only known once all of them are.
        for by_slowest in [false, true] {
            for at in 0..self.items.len() {
                let Item { param, origin: None, source: None, .. } = self.items[at] else { continue };
                let Some(rule) = param.rule.filter(|rule| rule.key().is_none() == by_slowest) else { continue };
                let network = network.unwrap_or(&self);
                let rate = rule.key().map_or_else(|| network.slowest(), |key| network.rate(key));
                let Some(text) = rule.at(rate) else {
                    let words = rule.words();
                    let message = format!("is by default {words}, which no link can have at {rate}; give a rate");
                    return Err(self.fail(param.key, message));
                };
                self = self.settled(param.key, &text, format!("{}: {}", rule.words(), param.source));
            }
        }
        Ok(self)
    }
    /// The lowest of the rates in the table.
    fn slowest(&self) -> Rate {
        let rates = self.items.iter().filter_map(|item| match item.value {
            Some(Value::Rate(rate)) => Some(rate),
            _ => None,
        });
        rates.min_by_key(|rate| rate.bps()).expect("a network has rates")
    }
    /// The source of the default of `key`, if that is not the declared one.
    pub fn source_of_default(&self, key: &str) -> Option<&str> {
        self.items[self.index(key)].source.as_deref()
    }

    /// The value of a [`Kind::Time`] or [`Kind::Start`] key; traffic that waits has its own clock, which begins with it.
    pub fn time(&self, key: &str) -> Time {
        match self.value(key) {
            Value::Time(time) => *time,
            Value::Steady => Time::ZERO,
            other => mistyped(key, "a time", other),
        }
    }
    /// Whether the value of a [`Kind::Start`] key is the word.
    pub fn is_steady(&self, key: &str) -> bool {
        *self.value(key) == Value::Steady
    }
    /// The value of a [`Kind::Bytes`] key.
    pub fn bytes(&self, key: &str) -> Bytes {
        match self.value(key) {
            Value::Bytes(bytes) => *bytes,
            other => mistyped(key, "a number of bytes", other),
        }
    }
    /// The value of a [`Kind::Size`] key.
    pub fn size(&self, key: &str) -> Size {
        match self.value(key) {
            Value::Size(size) => *size,
            other => mistyped(key, "a size", other),
        }
    }
    /// The value of a [`Kind::Rate`] key.
    pub fn rate(&self, key: &str) -> Rate {
        match self.value(key) {
            Value::Rate(rate) => *rate,
            other => mistyped(key, "a rate", other),
        }
    }
    /// The value of a [`Kind::Number`] or [`Kind::Fraction`] key.
    pub fn number(&self, key: &str) -> f64 {
        match self.value(key) {
            Value::Number(number) => *number,
            other => mistyped(key, "a number", other),
        }
    }
    /// The value of a [`Kind::Integer`] key.
    pub fn integer(&self, key: &str) -> u64 {
        match self.value(key) {
            Value::Integer(number) => *number,
            other => mistyped(key, "a whole number", other),
        }
    }
    /// The value of a [`Kind::Bool`] key.
    pub fn flag(&self, key: &str) -> bool {
        match self.value(key) {
            Value::Bool(flag) => *flag,
            other => mistyped(key, "a flag", other),
        }
    }
    /// The meaning of the word of a [`Kind::Choice`] key; `meanings` must list every word.
    ///
    /// # Panics
    /// If `meanings` lacks a declared word, has an undeclared one, or gives two words the same meaning: an unmapped
    /// word would silently mean the default.
    pub fn choose<T: Copy + PartialEq>(&self, key: &str, meanings: &[(&str, T)]) -> T {
        let words = self.words(key);
        assert!(meanings.len() == words.len(), "{key} has the words {words:?}, and {} have a meaning", meanings.len());
        for (i, (word, meaning)) in meanings.iter().enumerate() {
            assert!(words.contains(word), "{key} has no word {word:?}");
            let other = meanings[..i].iter().find(|(other, same)| other == word || same == meaning);
            assert!(other.is_none(), "{key}: {word:?} is what another word is");
        }
        let chosen = self.choice(key);
        meanings.iter().find(|(word, _)| *word == chosen).expect("every word has a meaning").1
    }
    /// Whether the value of a [`Kind::Choice`] key is `word`.
    ///
    /// # Panics
    /// If the word is not declared.
    pub fn is(&self, key: &str, word: &str) -> bool {
        assert!(self.words(key).contains(&word), "{key} has no word {word:?}");
        self.choice(key) == word
    }
    /// The value of a [`Kind::Text`] key.
    ///
    /// # Panics
    /// Also for a [`Kind::Choice`]: compared as text, a renamed word would silently mean another one. Use
    /// [`Values::choose`] or [`Values::is`].
    pub fn text(&self, key: &str) -> &str {
        let declared = self.items[self.index(key)].param.kind;
        assert!(!matches!(declared, Kind::Choice(_)), "{key} is a choice: ask for it with `is` or `choose`");
        self.written_text(key)
    }
    /// The value of a [`Kind::Window`] key.
    pub fn window(&self, key: &str) -> Window {
        match self.value(key) {
            Value::Window(window) => *window,
            other => mistyped(key, "a window", other),
        }
    }

    /// The value of a [`Kind::Sizes`] key.
    pub fn sizes(&self, key: &str) -> &Sizes {
        match self.value(key) {
            Value::Sizes(sizes) => sizes,
            other => mistyped(key, "sizes", other),
        }
    }

    /// Whether the table may hold `key` at all.
    pub fn has(&self, key: &str) -> bool {
        self.items.iter().any(|item| item.is(key))
    }

    /// Fails for the first key that was set although another key makes it ineffective.
    pub(crate) fn check_idle(&self) -> Result<(), SpecError> {
        for item in self.items.iter().filter(|item| item.origin.is_some()) {
            if let Some((key, word)) = item.param.idle_with
                && self.choice(key) == word
            {
                return Err(self.fail(item.param.key, format!("has no effect with {key} = {word:?}: leave it out")));
            }
        }
        Ok(())
    }

    /// The keys that were set although another key makes them ineffective, with that key and its word.
    pub fn ignored(&self) -> impl Iterator<Item = (&'static str, (&'static str, &'static str))> {
        let written = self.items.iter().filter(|item| item.origin.is_some());
        let beside = |item: &Item| item.param.ignored_with.filter(|(key, word)| self.choice(key) == *word);
        written.filter_map(move |item| Some((item.param.key, beside(item)?)))
    }

    /// Whether `key` was not set and has its default.
    pub fn is_default(&self, key: &str) -> bool {
        self.items[self.index(key)].origin.is_none()
    }

    /// The error for an invalid value of `key`, at the place where it was set or else at the table.
    pub fn fail(&self, key: &str, message: impl Into<String>) -> SpecError {
        self.error(key, message.into())
    }
    /// As [`Values::fail`], with what to write instead.
    pub fn fail_with_suggestion(
        &self,
        key: &str,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> SpecError {
        self.error(key, Fault { message: message.into(), suggestion: Some(suggestion.into()) })
    }

    /// The error for a `key` of this table with an unknown name where only `valid` ones exist.
    pub fn unknown_name(&self, key: &str, what: &str, name: &str, valid: &[&str]) -> SpecError {
        self.error(key, Fault::unknown_name(what, name, valid))
    }

    /// Path of the table, such as `traffic.bursts`.
    pub fn path(&self) -> &str {
        &self.path
    }
    /// Each key with its declaration, its value and where that was set, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'static, str>, &'static Param, &Value, Option<&Origin>)> {
        let items = self.items.iter();
        items.filter_map(|item| Some((item.key(), item.param, item.value.as_ref()?, item.origin.as_ref())))
    }
    /// The word of a [`Kind::Choice`] key, as declared.
    pub fn choice(&self, key: &str) -> &'static str {
        let chosen = self.written_text(key);
        self.words(key).iter().copied().find(|word| *word == chosen).expect("a choice was checked when it was read")
    }

    /// The words of a [`Kind::Choice`] key.
    fn words(&self, key: &str) -> &'static [&'static str] {
        let Kind::Choice(words) = self.items[self.index(key)].param.kind else { panic!("{key} is not a choice") };
        words
    }

    fn written_text(&self, key: &str) -> &str {
        match self.value(key) {
            Value::Text(text) => text,
            other => mistyped(key, "text", other),
        }
    }

    fn error(&self, key: &str, fault: impl Into<Fault>) -> SpecError {
        let written = self.items.iter().find(|item| item.is(key)).and_then(|item| item.origin.as_ref());
        written.unwrap_or(&self.origin).error(path_of(&self.path, key), fault)
    }
    fn value(&self, key: &str) -> &Value {
        let value = self.items[self.index(key)].value.as_ref();
        value.unwrap_or_else(|| panic!("{}.{key} is required and was not given", self.path))
    }
    fn index(&self, key: &str) -> usize {
        let found = self.items.iter().position(|item| item.is(key));
        found.unwrap_or_else(|| panic!("{}.{key} is not a declared key", self.path))
    }
}

/// The path of `key` in the table at `path`, which is empty for the file itself.
pub fn path_of(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The declared default of `param`, unless the key is required.
fn default(param: &Param) -> Option<Value> {
    let read = |text| quantity::read_text(param, text);
    let checked = |result: Result<Value, Fault>| {
        result.unwrap_or_else(|fault| panic!("default of {}: {}", param.key, fault.message))
    };
    (!param.default.is_empty()).then(|| checked(read(param.default)))
}

fn mistyped(key: &str, wanted: &str, value: &Value) -> ! {
    panic!("{key} is not {wanted}; it holds {value:?}")
}
