//! Names the sources of the kernel, its module and the guest, so that the engine refuses a kernel of other sources.
//!
//! `linux/sources.sh` says it, here and when the kernel is built. Without the sources, as in a source distribution of the
//! crates alone, there is no name, and nothing is refused; nor is there a kernel elsewhere than on Linux.

use std::path::Path;
use std::process::Command;

fn main() {
    let script = Path::new("../../linux/sources.sh");
    let name = if cfg!(target_os = "linux") && script.is_file() { name(script) } else { String::new() };
    println!("cargo::rustc-env=FANIN_LINUX_SOURCES={name}");
    // It lists folders of these.
    println!("cargo::rerun-if-changed=../../linux");
    println!("cargo::rerun-if-changed=..");
}

/// What the script prints.
fn name(script: &Path) -> String {
    let ran = Command::new("bash").arg(script).output().expect("bash runs the script");
    assert!(ran.status.success(), "{}: {}", script.display(), String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("a digest is text").trim().to_owned()
}
