#!/usr/bin/env bash
# Builds the engine for browsers into web/public/fanin.wasm; with --check only says whether it can.
# Needs the target (rustup target add wasm32-unknown-unknown), or Debian's rustc-web and rust-web-src, from which the
# standard library is built too (three minutes the first time).
set -euo pipefail
cd "$(dirname "$0")/../.."

target=wasm32-unknown-unknown
build=(cargo build --package fanin-wasm --profile page --target "$target" --target-dir target/wasm)
sources=(/usr/src/rustc-*/library)
if [ -d "$(rustc --print target-libdir --target "$target")" ]; then
    flags=()
elif [ -x /usr/bin/rustc ] && [ -d "${sources[-1]}/vendor" ]; then
    linker=$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld | head -n 1)
    # A compiler that is not a nightly one builds its own standard library only if it is told to.
    export RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc __CARGO_TESTS_ONLY_SRC_ROOT=${sources[-1]}
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=${linker:-rust-lld}
    flags=(-Zbuild-std=std,panic_abort)
else
    echo 'for browsers Rust needs: rustup target add wasm32-unknown-unknown (on Debian: apt-get install rustc-web rust-web-src)' >&2
    exit 1
fi
if [ "${1:-}" = --check ]; then exit; fi
"${build[@]}" "${flags[@]}"
mkdir -p web/public
cp "target/wasm/$target/page/fanin_wasm.wasm" web/public/fanin.wasm
