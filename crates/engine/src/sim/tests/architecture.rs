//! What holds by construction, read off the source.

use crate::schemes;
use std::fs;
use std::path::{Path, PathBuf};

/// Every source file of the crate by its path below `src`, with its code: no comments, and nothing from the first test
/// module on.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("readable sources");
            open.extend(
                entries.map(|entry| entry.expect("readable sources").path()).filter(|path| !path.ends_with("tests")),
            );
        } else {
            let text = fs::read_to_string(&path).expect("readable sources");
            let code: Vec<&str> = text
                .lines()
                .take_while(|line| !line.starts_with("#[cfg(test)]"))
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            let path = path.strip_prefix(&root).expect("all are below it");
            found.push((path.to_path_buf(), code.join("\n")));
        }
    }
    found
}

#[test]
fn roles_schemes_and_queues_cannot_reach_into_the_simulator() {
    for (path, code) in sources() {
        let apart = ["roles", "schemes", "queue", "tcp", "packet.rs", "units.rs"];
        if path.iter().any(|part| apart.iter().any(|name| part == *name)) {
            assert!(!code.contains("sim::"), "{} names the simulator", path.display());
        }
    }
}

#[test]
fn a_scheme_is_one_room_and_one_row() {
    for row in schemes::REGISTRY {
        let room = row.key.replace('-', "_");
        let names = |code: &str| code.contains(&format!("{room}::")) || code.contains(&format!("\"{}\"", row.key));
        let touched: Vec<String> = sources()
            .iter()
            .filter(|(path, code)| {
                !path.iter().any(|part| part == room.as_str() || part == format!("{room}.rs").as_str()) && names(code)
            })
            .map(|(path, _)| path.file_name().expect("a file").to_string_lossy().into_owned())
            .filter(|file| !(row.key == "newreno" && file == "common.rs")) // the default scheme
            .collect();
        assert!(
            touched.iter().all(|file| file == "mod.rs") && touched.len() == 1,
            "{} is named outside its room and the registry: {touched:?}",
            row.key
        );
    }
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("readable sources")
}

#[test]
fn the_map_of_the_crate_names_every_module() {
    let library = read("src/lib.rs");
    let (map, code): (Vec<&str>, Vec<&str>) = library.lines().partition(|line| line.starts_with("//!"));
    let modules = code.iter().filter_map(|line| line.split_once("mod ")?.1.strip_suffix(';'));
    for module in modules {
        let named = map.iter().any(|line| line.starts_with("//! |") && line.contains(&format!("`{module}`")));
        assert!(named, "the map in lib.rs does not name {module}");
    }
}
