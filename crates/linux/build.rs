//! Names the sources of the kernel, its module and the guest, so that the engine refuses a kernel of other sources.
//!
//! `linux/sources.sh` computes the same when the kernel is built. Without the sources, as in a source distribution of the
//! crates alone, there is no name, and nothing is refused.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What decides a run in the kernel, as `linux/sources.sh` lists it.
const PARTS: [&str; 7] = [
    "linux",
    "crates/guest",
    "crates/core/src",
    "crates/engine/src/backend",
    "crates/network/src",
    "crates/param",
    "crates/work/src",
];

fn main() {
    let root = Path::new("../..");
    let there = PARTS.iter().all(|part| root.join(part).is_dir());
    let name = if there { name(root) } else { String::new() };
    println!("cargo::rustc-env=FANIN_LINUX_SOURCES={name}");
}

/// Sixteen digits of the digest of a list of all files, each with its own digest.
fn name(root: &Path) -> String {
    let mut found = Vec::new();
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
        files(&root.join(part), &mut found);
    }
    let mut named: Vec<(String, PathBuf)> = found.into_iter().map(|path| (below(root, &path), path)).collect();
    named.sort();
    let mut list = String::new();
    for (name, path) in named {
        let text = fs::read(path).expect("a source file that was just listed can be read");
        writeln!(list, "{}  {name}", hexadecimal(&text)).expect("a text grows");
    }
    hexadecimal(list.as_bytes())[..16].to_owned()
}

/// A path as `find` prints it.
fn below(root: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(root).expect("it is in the checkout").iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a text grows");
        text
    })
}

/// Every file below a folder that can decide a run: manuals and tests do not.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder stands in the checkout") {
        let path = entry.expect("a folder entry can be read").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "tests") {
                files(&path, found);
            }
        } else if path.extension().is_none_or(|extension| extension != "md") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}
