//! Every parameter is set somewhere. Those that no published experiment sets change a run in which they can: `knobs.rs`.
//!
//! A parameter belongs to a table: `jitter` of `[control]` is another one than that of `[[traffic]]`, and `g` of
//! `[scheme.dctcp]` another one than `g` of `[scheme.rcc]`. An experiment is read as TOML. Of a test the strings are read,
//! where the header may be in another one than the key. Then a key that several tables have counts for none of them, and
//! that of a scheme for the one that the same line names, or else the function, or else the file.

use fanin_engine::spec::{Param, common};
use fanin_engine::{fault, queue, schemes, tcp, topology, traffic};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// A parameter: its table, the scheme if it is one of a scheme, and its key.
#[derive(Clone, Copy, Debug)]
struct Declared {
    table: &'static str,
    scheme: Option<&'static str>,
    key: &'static str,
}

/// Everything that a scenario can set. Schemes that share one list of parameters count once.
fn declared() -> Vec<Declared> {
    let mut tables: Vec<(&str, Option<&str>, &'static [Param])> = vec![
        ("network", None, common::NETWORK),
        ("traffic", None, common::TRAFFIC_OPTIONAL),
        ("traffic", None, common::TRAFFIC_COMMON),
        ("control", None, common::CONTROL),
        ("measure", None, common::MEASURE),
        ("run", None, common::RUN),
        ("transport", None, tcp::PARAMS),
        ("fault", None, fault::COMMON),
    ];
    tables.extend(topology::REGISTRY.iter().map(|row| ("network", None, row.params)));
    tables.extend(queue::REGISTRY.iter().map(|row| ("queue", None, row.params)));
    tables.extend(traffic::REGISTRY.iter().map(|row| ("traffic", None, row.params)));
    tables.extend(fault::REGISTRY.iter().map(|row| ("fault", None, row.params)));
    for row in schemes::REGISTRY {
        let keys = |params: &[Param]| params.iter().map(|param| param.key).collect::<Vec<_>>();
        if !tables.iter().any(|(.., params)| keys(params) == keys(row.params)) {
            tables.push(("scheme", Some(row.key), row.params));
        }
    }
    let each = |(table, scheme, params): (&'static str, Option<&'static str>, &'static [Param])| {
        params.iter().map(move |param| Declared { table, scheme, key: param.key })
    };
    tables.into_iter().flat_map(each).collect()
}

/// The text of all files below `folder` whose names end in `ending`.
fn texts(folder: &Path, ending: &str, read: &mut dyn FnMut(&Path, String)) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            texts(&path, ending, read);
        } else if path.to_string_lossy().ends_with(ending) {
            read(&path, std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// A key that is given a value: its table as far as it is known, and what surrounds it, the nearest first.
struct Setting {
    table: Option<String>,
    key: String,
    around: Vec<String>,
}

impl Setting {
    /// Whether it sets `param`, one of `all`.
    fn sets(&self, param: Declared, all: &[Declared]) -> bool {
        if self.key != param.key {
            return false;
        }
        let rivals = || all.iter().filter(|other| other.key == param.key);
        match (&self.table, param.scheme) {
            (Some(table), None) => table.split('.').next() == Some(param.table),
            (None, None) => rivals().all(|other| other.table == param.table),
            // A header such as `[scheme.{name}]` says no more than none.
            (Some(table), Some(scheme)) if !table.contains('{') => *table == format!("scheme.{scheme}"),
            (_, Some(scheme)) => {
                let schemes: BTreeSet<&str> = rivals().filter_map(|other| other.scheme).collect();
                let named =
                    |text: &String| schemes.iter().copied().filter(|name| names(text, name)).collect::<Vec<_>>();
                let nearest = self.around.iter().map(named).enumerate().find(|(_, named)| !named.is_empty());
                // A line may set the same for several; of something larger nobody knows which one is meant.
                nearest.is_some_and(|(i, named)| named.contains(&scheme) && (i == 0 || named.len() == 1))
            }
        }
    }
}

/// Whether a text names a scheme: as a string, in a header or in a path.
fn names(text: &str, scheme: &str) -> bool {
    let path = format!("scheme.{scheme}");
    let ends = |at: usize| !text[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-');
    text.contains(&format!("\"{scheme}\"")) || text.match_indices(&path).any(|(at, _)| ends(at))
}

/// What an experiment sets, its variants and sweeps included.
fn in_toml(path: &[&str], value: &toml::Value, settings: &mut Vec<Setting>) {
    const TABLES: [&str; 8] = ["network", "transport", "queue", "control", "measure", "run", "fault", "traffic"];
    match (value, path) {
        (toml::Value::Table(table), _) => {
            for (key, value) in table {
                let longer: Vec<&str> = path.iter().copied().chain(key.split('.')).collect();
                in_toml(&longer, value, settings);
            }
        }
        (toml::Value::Array(values), _) if values.iter().any(toml::Value::is_table) => {
            for value in values {
                in_toml(path, value, settings);
            }
        }
        (_, [.., table @ "scheme", scheme, key]) => {
            settings.push(Setting { table: Some(format!("{table}.{scheme}")), key: (*key).to_owned(), around: vec![] });
        }
        // A group of traffic or a fault may have a name.
        (_, [.., table, key] | [.., table @ ("traffic" | "fault"), _, key]) if TABLES.contains(table) => {
            settings.push(Setting { table: Some((*table).to_owned()), key: (*key).to_owned(), around: vec![] });
        }
        _ => {}
    }
}

/// The strings of a Rust source, each with where it begins and ends.
fn strings(source: &str) -> Vec<(usize, usize, String)> {
    let bytes = source.as_bytes();
    let (mut found, mut i) = (Vec::new(), 0);
    while i < bytes.len() {
        let rest = &bytes[i..];
        if rest.starts_with(b"//") {
            i += source[i..].find('\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"'\"'") {
            i += 3;
        } else if rest.starts_with(b"r#\"") {
            let end = source[i..].find("\"#").map_or(source.len(), |at| i + at + 2);
            found.push((i, end, source[i + 3..end - 2].to_owned()));
            i = end;
        } else if rest[0] == b'"' {
            let mut end = i + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            let (mut text, mut from) = (String::new(), source[i + 1..end].split("\\\n"));
            text.push_str(from.next().unwrap_or(""));
            from.for_each(|line| text.push_str(line.trim_start()));
            found.push((i, end + 1, text.replace("\\n", "\n").replace("\\\"", "\"")));
            i = end + 1;
        } else {
            i += 1;
        }
    }
    found
}

/// The table that has a `kind` of this name.
fn table_of(kind: &str) -> Option<&'static str> {
    let [queue, traffic, fault] = [
        queue::REGISTRY.iter().any(|row| row.key == kind),
        traffic::REGISTRY.iter().any(|row| row.key == kind),
        fault::REGISTRY.iter().any(|row| row.key == kind),
    ];
    [(queue, "queue"), (traffic, "traffic"), (fault, "fault")].into_iter().find_map(|(has, table)| has.then_some(table))
}

/// What the strings of a test set: lines of a scenario, or a key and its value as a pair.
fn in_rust(path: &Path, source: &str, settings: &mut Vec<Setting>) {
    let is_head = |line: &str| {
        let line = line.trim_start();
        line.starts_with("fn ") || line.starts_with("pub") && line.contains(" fn ")
    };
    let mut heads: Vec<usize> = vec![0];
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        if is_head(line) {
            heads.push(at);
        }
        at += line.len();
    }
    heads.push(source.len());
    // A file in a scheme's folder, or with its name, is about that scheme.
    let place = |part: Component<'_>| part.as_os_str().to_string_lossy().trim_end_matches(".rs").replace('_', "-");
    let places: Vec<String> = path.components().map(place).collect();
    let places = format!("\"{}\"", places.join("\" \""));
    for (start, end, text) in strings(source) {
        let function = heads.windows(2).find(|head| (head[0]..head[1]).contains(&start)).expect("it is in the file");
        let line = source[..start].rfind('\n').map_or(0, |at| at + 1)..end + source[end..].find('\n').unwrap_or(0);
        let [line, function] =
            [line, function[0]..function[1]].map(|range| source[range].replace("\\\"", "\"").replace('\\', ""));
        let around = vec![line, function, places.clone()];
        let after = &source[end..];
        if source[..start].ends_with('(') && after.starts_with(", ") {
            let (table, key) =
                text.rsplit_once('.').map_or((None, &*text), |(table, key)| (Some(table.to_owned()), key));
            settings.push(Setting { table, key: key.to_owned(), around: around.clone() });
        }
        let mut table = None;
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[') {
                table = Some(header.trim_matches(['[', ']']).to_owned());
            } else if let Some((key, value)) = line.split_once('=') {
                let (path, key) =
                    key.trim().rsplit_once('.').map_or((None, key.trim()), |(path, key)| (Some(path), key));
                if key == "kind" && table.is_none() {
                    table = table_of(value.trim().trim_matches('"')).map(str::to_owned);
                }
                let table = path.map(str::to_owned).or_else(|| table.clone());
                settings.push(Setting { table, key: key.to_owned(), around: around.clone() });
            }
        }
    }
}

fn settings() -> Vec<Setting> {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    texts(&engine.join("tests"), ".rs", &mut |path, text| {
        // The examples below set nothing.
        if !path.ends_with(file!().rsplit('/').next().expect("a name")) {
            in_rust(path, &text, &mut found);
        }
    });
    texts(&engine.join("src"), ".rs", &mut |path, text| {
        let of_tests = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        let tests =
            if of_tests { &text } else { text.split_once("#[cfg(test)]\nmod tests {").map_or("", |(_, tests)| tests) };
        in_rust(path, tests, &mut found);
    });
    texts(&engine.join("../../python/fanin/experiments"), ".toml", &mut |path, text| {
        let value = text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        in_toml(&[], &toml::Value::Table(value), &mut found);
    });
    found
}

/// A parameter that nobody ever sets may do nothing at all.
#[test]
fn every_parameter_is_set_by_a_test_or_an_experiment() {
    let (all, settings) = (declared(), settings());
    let is_unset = |param: &&Declared| !settings.iter().any(|setting| setting.sets(**param, &all));
    let path = |param: &Declared| format!("{}.{}", param.scheme.unwrap_or(param.table), param.key);
    let unset: Vec<String> = all.iter().filter(is_unset).map(path).collect();
    assert!(unset.is_empty(), "no test and no experiment sets {}", unset.join(", "));
}

/// What a test with this body sets, as `scheme.key` or `table.key`.
fn set_by(file: &str, body: &str) -> Vec<String> {
    let (all, mut settings) = (declared(), Vec::new());
    in_rust(Path::new(file), &format!("fn test() {{\n{body}\n}}\n"), &mut settings);
    let is_set = |param: &&Declared| settings.iter().any(|setting| setting.sets(**param, &all));
    all.iter().filter(is_set).map(|param| format!("{}.{}", param.scheme.unwrap_or(param.table), param.key)).collect()
}

#[test]
fn a_key_counts_for_its_own_table() {
    for (file, body, set) in [
        ("a.rs", r#"run("[scheme.linux]\nbeta = 0.5")"#, &["linux.beta"][..]),
        ("a.rs", r#"run("scheme.dt-cwa.beta = 0.5")"#, &["dt-cwa.beta"]),
        ("a.rs", r#"for row in [("linux", "beta = 0.5"),"#, &["linux.beta"]),
        ("schemes/dt_cwa.rs", r#"bench("beta = 0.5")"#, &["dt-cwa.beta"]),
        ("schemes/dt_cwa.rs", r#"bench(&[("beta", value)])"#, &["dt-cwa.beta"]),
        // The nearest name is the one that is meant; of two as near, neither is.
        ("schemes/dt_cwa.rs", r#"run("linux", "beta = 0.5")"#, &["linux.beta"]),
        ("a.rs", "let both = [\"linux\", \"dt-cwa\"];\nrun(\"beta = 0.5\")", &[]),
        ("a.rs", r#"println!("T_c = 5, c < 3"); let c = 1;"#, &[]),
        ("a.rs", "let linux = \"linux\"; // c = 1\nlet c = 1;", &[]),
        (
            "a.rs",
            r#"run("[control]\njitter = \"1us\"\n[[traffic]]\nstart = \"1s\"")"#,
            &["traffic.start", "control.jitter"],
        ),
        ("a.rs", r#"run("jitter = \"1us\"")"#, &[]),
    ] {
        let found: BTreeSet<String> = set_by(file, body).into_iter().collect();
        assert_eq!(found, set.iter().map(|path| (*path).to_owned()).collect(), "{file}: {body}");
    }
}
