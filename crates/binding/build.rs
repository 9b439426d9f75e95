//! Names the engine by its source, so that results computed by two different engines never share a name.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates that only carry scenarios in and results out.
const BINDINGS: [&str; 4] = ["binding", "extension", "python", "wasm"];

fn main() {
    let crates = Path::new("..");
    let names = fs::read_dir(crates).expect("the crates stand beside each other");
    let names = names.map(|entry| entry.expect("a folder entry can be read").file_name());
    let mut names: Vec<_> = names.filter(|name| BINDINGS.iter().all(|binding| name != binding)).collect();
    names.sort();
    // Workloads are compiled in.
    let folders = names.iter().flat_map(|name| ["src", "workloads"].map(|part| crates.join(name).join(part)));
    let mut hash = Sha256::new();
    for folder in folders.filter(|folder| folder.is_dir()) {
        for file in files(&folder).into_iter().filter(|file| decides_results(file)) {
            hash.update(file.to_string_lossy().as_bytes());
            hash.update(fs::read(file).expect("a source file that was just listed can be read"));
        }
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let digest = hash.finalize();
    let digest = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    println!("cargo::rustc-env=FANIN_ENGINE_SOURCE={digest:08x}");
}

/// Whether a result can depend on this file: manuals and tests are not part of the simulation.
fn decides_results(file: &Path) -> bool {
    let is_test = file.iter().any(|part| part == "tests" || part == "tests.rs");
    !is_test && file.extension().is_none_or(|extension| extension != "md")
}

/// Every file below a folder, in order of path.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder stands in the checkout") {
        let path = entry.expect("a folder entry can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
