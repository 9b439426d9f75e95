//! Names the engine by its source, so that results computed by two different engines never share a name.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() {
    let source = Path::new("../engine/src");
    // Workloads are compiled in.
    let workloads = Path::new("../engine/workloads");
    let mut hash = Sha256::new();
    for file in [files(source), files(workloads)].concat().into_iter().filter(|file| decides_results(file)) {
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(fs::read(file).expect("a source file that was just listed can be read"));
    }
    let digest = hash.finalize();
    let digest = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    for folder in [source, workloads] {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
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
