#!/usr/bin/env bash
# Prints the digest of what decides a run in the kernel: what the kernel, its module and the guest are built from.
# crates/linux/build.rs asks it for the engine, which refuses a kernel of other sources.
set -euo pipefail
cd "$(dirname "$0")/.."
# Beside the guest: what drives its transfers, and how a run is written down.
parts="linux crates/guest crates/core/src crates/engine/src/backend crates/network/src crates/param crates/schemes/src/sdtcp crates/work/src"
# shellcheck disable=SC2086
find $parts -type f ! -name '*.md' ! -name tests.rs ! -path '*/tests/*' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16
