//! Names the engine by its source, so that results computed by two different engines never share a name.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() {
    let source = Path::new("../engine/src");
    let mut files = Vec::new();
    collect(source, &mut files);
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(std::fs::read(file).expect("a source file that was just listed can be read"));
    }
    let digest: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rustc-env=FANIN_ENGINE_SOURCE={digest}");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the engine's source stands beside the bindings") {
        let path = entry.expect("a folder entry can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
