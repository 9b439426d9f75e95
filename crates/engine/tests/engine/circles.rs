//! No dependency cycle: what a file uses does not use it back, directly or through others.
//!
//! A file that declares further modules is taken item by item, with the implementations of a type as part of the type.
//! So a table of rows may name the modules below it, and they may take the type of a row from it; but a module below may
//! not take what its parent builds with that module.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What has a name in the graph: a module, or an item of a module that declares others.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// A source file without its comments and tests.
struct Module {
    text: String,
    children: BTreeSet<String>,
    /// Modules that only tests have.
    tests: BTreeSet<String>,
}

fn strip(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let is_test = |i: usize| lines[i] == "#[cfg(test)]" && lines[i + 1].contains("mod ") && lines[i + 1].ends_with('{');
    let end = (0..lines.len()).find(|i| is_test(*i)).unwrap_or(lines.len());
    lines[..end].join("\n")
}

/// Every module of the crate, by its path: `net::port`; the root is empty.
fn modules(folder: &Path, path: &str, found: &mut BTreeMap<String, Module>) {
    let root = if path.is_empty() { folder.join("lib.rs") } else { folder.join("mod.rs") };
    let file = if root.exists() { root } else { folder.with_extension("rs") };
    let text = strip(&fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    let (mut children, mut tests, mut only_tests) = (BTreeSet::new(), BTreeSet::new(), false);
    for line in text.lines() {
        let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
        if let (Some(("mod", name)), true) =
            (words.iter().rev().nth(1).copied().zip(words.last().copied()), line.ends_with(';'))
        {
            if only_tests {
                tests.insert(name.to_owned())
            } else {
                children.insert(name.to_owned())
            };
        }
        only_tests = line.trim() == "#[cfg(test)]";
    }
    for child in &children {
        modules(&folder.join(child), &join(path, child), found);
    }
    found.insert(path.to_owned(), Module { text, children, tests });
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// The words of a text, each with what it is joined to by `::` before it; words after a dot are left out.
fn paths(text: &str) -> Vec<Vec<&str>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut end = 0;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_word).map(|at| rest + at) {
        let stop = text[start..].find(|c| !is_word(c)).map_or(text.len(), |at| start + at);
        let between = &text[end..start];
        match found.last_mut() {
            Some(last) if between == "::" => last.push(&text[start..stop]),
            _ if between.ends_with('.') && !between.ends_with("..") => found.push(Vec::new()),
            _ => found.push(vec![&text[start..stop]]),
        }
        (end, rest) = (stop, stop);
    }
    found
}

/// The names that a `use` binds, each with its path: `a::{b, c as d}` binds `b` and `d`.
fn bound(tree: &str) -> Vec<(String, Vec<String>)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        let (mut depth, mut parts, mut from) = (0, Vec::new(), 0);
        for (i, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => parts.push(&inner[std::mem::replace(&mut from, i + 1)..i]),
                _ => {}
            }
        }
        parts.push(&inner[from..]);
        let each = parts.into_iter().filter(|part| !part.trim().is_empty());
        return each.flat_map(|part| bound(&format!("{}{}", &tree[..open], part.trim()))).collect();
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let last = path.last().cloned().unwrap_or_default();
    vec![(if alias.is_empty() { last } else { alias.trim().to_owned() }, path)]
}

struct Crate(BTreeMap<String, Module>);

impl Crate {
    /// The module that a path in `module` leads to, and the rest of the path, unless it leads out of this crate.
    fn follow<'a>(&self, module: &'a str, path: &'a [&'a str]) -> Option<(String, &'a [&'a str])> {
        let mut at: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let mut rest = path;
        match *rest.first()? {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first() == Some(&"super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            first if self.0[module].children.contains(first) => {}
            _ => return None,
        }
        self.descend(at, rest)
    }

    fn descend<'a>(&self, mut at: Vec<&'a str>, mut rest: &'a [&'a str]) -> Option<(String, &'a [&'a str])> {
        while let Some(next) = rest.first() {
            let here = &self.0[&at.join("::")];
            if here.tests.contains(*next) {
                return None;
            }
            if !here.children.contains(*next) {
                break;
            }
            at.push(next);
            rest = &rest[1..];
        }
        Some((at.join("::"), rest))
    }

    /// Who is meant by the rest of a path that has led to `module`.
    fn node(&self, module: String, rest: &[&str]) -> Option<String> {
        match rest.first() {
            Some(item) if !self.0[&module].children.is_empty() => Some(format!("{module}#{item}")),
            // To name a module that declares others is no use of anything that it builds.
            None if !self.0[&module].children.is_empty() => None,
            _ => Some(module),
        }
    }

    /// Who is meant by a path that stands in `module`, if somebody of this crate.
    fn resolve(&self, module: &str, path: &[&str]) -> Option<String> {
        let (module, rest) = self.follow(module, path)?;
        self.node(module, rest)
    }

    /// Who is meant by a path whose first word is bound to `module`.
    fn resolve_within(&self, module: &str, rest: &[&str]) -> Option<String> {
        let at = module.split("::").filter(|part| !part.is_empty()).collect();
        let (module, rest) = self.descend(at, rest)?;
        self.node(module, rest)
    }

    /// The items of a module by name: the text of each, its implementations included.
    fn items(text: &str) -> BTreeMap<String, String> {
        const KINDS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "impl"];
        let (mut items, mut name) = (BTreeMap::<String, String>::new(), None);
        for line in text.lines() {
            let start = line.trim_start_matches("pub").trim_start();
            let start =
                if start.starts_with('(') { start.split_once(") ").map_or("", |(_, rest)| rest) } else { start };
            let start = start.trim_start_matches("const fn ").trim_start_matches("unsafe ");
            let kind = start.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            if line.starts_with(|c: char| c.is_alphabetic()) {
                let head = start.strip_prefix(kind).unwrap_or("");
                name = match kind {
                    "impl" => {
                        let head = head.split_once(" for ").map_or(head, |(_, target)| target);
                        let head =
                            if head.starts_with('<') { head.split_once("> ").map_or("", |(_, t)| t) } else { head };
                        paths(head).first().and_then(|path| path.last()).map(|word| (*word).to_owned())
                    }
                    // A constant without a name is a check that nobody uses.
                    _ if KINDS.contains(&kind) => {
                        paths(head).first().map(|path| path[0].to_owned()).filter(|name| name != "_")
                    }
                    _ if line.contains("const fn ") => paths(start).first().map(|path| path[0].to_owned()),
                    _ => None,
                };
            }
            if let Some(name) = &name {
                let item = items.entry(name.clone()).or_default();
                item.push_str(line);
                item.push('\n');
            }
        }
        items
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::new();
        for (path, module) in &self.0 {
            let mut names = BTreeMap::new();
            // Names that stand for modules: what follows them in a path tells who is meant.
            let mut bindings = BTreeMap::new();
            let mut code = String::new();
            for statement in module.text.split_inclusive(';') {
                let at = statement.rfind("\nuse ").or_else(|| statement.rfind("\npub use ")).or_else(|| {
                    let inner = statement.rfind(" use ")?;
                    statement[..inner].ends_with(char::is_whitespace).then_some(inner)
                });
                let at = at
                    .or_else(|| statement.starts_with("use ").then_some(0))
                    .or_else(|| statement.rfind("\npub(crate) use "));
                let Some(at) = at else {
                    code.push_str(statement);
                    continue;
                };
                code.push_str(&statement[..at]);
                let tree = statement[at..].trim_end_matches(';').split_once("use ").map_or("", |(_, tree)| tree);
                for (name, target) in bound(tree) {
                    let target: Vec<&str> = target.iter().map(String::as_str).collect();
                    if let Some((module, [])) = self.follow(path, &target) {
                        bindings.insert(name.clone(), module);
                    }
                    if let Some(node) = self.resolve(path, &target) {
                        names.insert(name, node);
                    }
                }
            }
            let uses = |text: &str, own: &BTreeMap<String, String>| -> BTreeSet<String> {
                let node = |words: &Vec<&str>| match words.first() {
                    Some(&"crate" | &"super" | &"self") => self.resolve(path, words),
                    Some(&first) if bindings.contains_key(first) => self.resolve_within(&bindings[first], &words[1..]),
                    Some(&first) => names.get(first).cloned().or_else(|| {
                        if own.contains_key(first) {
                            Some(format!("{path}#{first}"))
                        } else {
                            self.resolve(path, words)
                        }
                    }),
                    None => None,
                };
                paths(text).iter().filter_map(node).collect()
            };
            if module.children.is_empty() {
                let used = names.values().cloned().chain(uses(&code, &BTreeMap::new()));
                graph.insert(path.clone(), used.filter(|node| node != path).collect());
                continue;
            }
            let items = Self::items(&code);
            for (name, text) in &items {
                let own = format!("{path}#{name}");
                let used = uses(text, &items).into_iter().filter(|node| *node != own).collect();
                graph.insert(own, used);
            }
            // What a module passes on from those below it.
            for (name, node) in names {
                graph.entry(format!("{path}#{name}")).or_default().insert(node);
            }
        }
        graph
    }
}

/// A circle, if there is one: each of its members uses the next one, and the last the first.
fn circle(graph: &Graph) -> Option<Vec<&str>> {
    fn visit<'a>(node: &'a str, graph: &'a Graph, way: &mut Vec<&'a str>, done: &mut BTreeSet<&'a str>) -> bool {
        if let Some(first) = way.iter().position(|passed| *passed == node) {
            way.drain(..first);
            return true;
        }
        if !done.insert(node) {
            return false;
        }
        way.push(node);
        if graph.get(node).into_iter().flatten().any(|next| visit(next, graph, way, done)) {
            return true;
        }
        way.pop();
        false
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|node| {
        let mut way = Vec::new();
        visit(node, graph, &mut way, &mut done).then_some(way)
    })
}

fn engine() -> Graph {
    let mut found = BTreeMap::new();
    modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    Crate(found).graph()
}

#[test]
fn no_module_uses_one_that_uses_it() {
    let mut graph = engine();
    assert!(graph.len() > 150 && graph.values().map(BTreeSet::len).sum::<usize>() > 600, "the uses are found");
    let mut told = Vec::new();
    while let Some(circle) = circle(&graph) {
        let (first, last) = (circle[0].to_owned(), circle[circle.len() - 1].to_owned());
        told.push(format!("{} -> {first}", circle.join(" -> ")));
        // What else there is shows without it.
        graph.entry(last).or_default().remove(&first);
    }
    assert!(told.is_empty(), "circles:\n{}", told.join("\n"));
}

#[test]
fn circles_are_found() {
    let module = |text: &str, children: &[&str]| Module {
        text: text.to_owned(),
        children: children.iter().map(|name| (*name).to_owned()).collect(),
        tests: BTreeSet::new(),
    };
    let graph = |root: &str, a: &str, b: &str| {
        let modules = [("", module(root, &["a", "b"])), ("a", module(a, &[])), ("b", module(b, &[]))];
        Crate(modules.into_iter().map(|(path, module)| (path.to_owned(), module)).collect()).graph()
    };
    let there = |graph: &Graph| circle(graph).map(|circle| circle.join(" "));
    // Two files.
    assert!(there(&graph("", "use crate::b::B;\n", "use crate::a::A;\n")).is_some());
    assert!(there(&graph("", "use super::b::{C, B as D};\n", "fn f() { crate::a::g() }\n")).is_some());
    assert_eq!(there(&graph("", "use crate::b::B;\n", "use std::fmt;\n")), None);
    // A row's type, and the table of rows.
    let table = "mod a;\nmod b;\npub struct Row(u8);\nconst ROWS: [Row; 2] = [a::ROW, b::ROW];\n";
    assert_eq!(there(&graph(table, "use crate::Row;\n", "use super::Row;\n")), None);
    assert!(there(&graph(table, "use crate::ROWS;\n", "use super::Row;\n")).is_some());
    // The same by the name of a module that declares others.
    let through = |a: &str| {
        let rows = module("mod b;\npub const ROWS: [u8; 1] = [b::ROW];\n", &["b"]);
        let back = module("use crate::a::A;\n", &[]);
        let modules = [("", module("", &["a", "m"])), ("a", module(a, &[])), ("m", rows), ("m::b", back)];
        Crate(modules.into_iter().map(|(path, module)| (path.to_owned(), module)).collect()).graph()
    };
    for by_name in ["use crate::m;\n", "use crate::{m};\n", "use super::m::{self};\n"] {
        assert!(there(&through(&format!("{by_name}fn f() {{ m::ROWS }}\n"))).is_some(), "{by_name}");
        assert!(there(&through(&format!("{by_name}fn f() {{ m::b::B }}\n"))).is_some(), "{by_name}");
        assert_eq!(there(&through(&format!("{by_name}fn f() {{ m::OTHER }}\n"))), None);
    }
    assert!(there(&through("use crate::m as rows;\nfn f() { rows::ROWS }\n")).is_some());
    // What a type's implementation uses belongs to the type.
    let parent = "use a::help;\npub struct T;\nimpl T {\n    fn f() {\n        help();\n    }\n}\n";
    assert!(there(&graph(parent, "use super::T;\n", "")).is_some());
}
