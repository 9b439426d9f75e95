//! Names the engine by its source, so that results computed by two different engines never share a name, and lays
//! the experiments out for the wheel.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() {
    name_engine(Path::new("../engine/src"));
    copy_experiments(Path::new("../../experiments"));
}

fn name_engine(source: &Path) {
    let mut hash = Sha256::new();
    for file in files(source) {
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(fs::read(file).expect("a source file that was just listed can be read"));
    }
    let digest = hash.finalize();
    let digest = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rustc-env=FANIN_ENGINE_SOURCE={digest:08x}");
}

/// Maturin takes files from here to `fanin/experiments` in the wheel.
fn copy_experiments(source: &Path) {
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder")).join("experiments");
    let _ = fs::remove_dir_all(&target);
    for file in files(source) {
        let copy = target.join(file.strip_prefix(source).expect("it was found there"));
        fs::create_dir_all(copy.parent().expect("it is inside the target")).expect("cargo's folder can be written");
        fs::copy(file, copy).expect("cargo's folder can be written");
    }
    println!("cargo::rerun-if-changed={}", source.display());
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
