//! Bounds the memory of the WebAssembly module.

/// Most memory that a run in a browser may take, in bytes; a larger one is for the terminal.
const MEMORY: u64 = 1 << 30;

fn main() {
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-cdylib-link-arg=--max-memory={MEMORY}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
