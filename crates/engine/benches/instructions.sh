#!/usr/bin/env bash
# Counts the instructions that a packet costs on one link.
#
# Usage: crates/engine/benches/instructions.sh [--record]
#
# Runs the example `run` under callgrind, which counts the same on a busy machine as on a quiet one, for the scenarios
# below, and prints instructions per packet-hop beside those in instructions.csv. Fails if any has grown by more than
# a tenth. --record writes that file anew: do so, and commit it, with a change that is meant to cost or to save.
# The whole run counts, set-up and tables included. Compilers differ, so record and compare with the same one. callgrind
# has no SHA instructions, so the hash over the tables shows in the shortest flows (incast1000) more than it takes.
set -euo pipefail

# A name, then overrides of incast.toml.
scenarios=(
    "incast100-newreno transport.scheme=newreno"
    "incast100-dctcp"
    "incast100-dctcp-bands queue.kind=strict-priority queue.threshold=20pkt"
    "incast1000-dctcp traffic.incast.senders=1000 traffic.incast.bytes-each=64KB"
)

here=$(cd "$(dirname "$0")" && pwd)
recorded=$here/instructions.csv
command -v valgrind >/dev/null || { echo "instructions.sh needs valgrind" >&2; exit 2; }
case ${1-} in
    '' | --record) ;;
    *) echo "usage: instructions.sh [--record]" >&2; exit 2 ;;
esac

cd "$here/.."
cargo build --quiet --release --example run
target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# Prints the instructions per packet-hop of one scenario: count KEY=VALUE...
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$scratch/log" \
        "$target/release/examples/run" "$here/incast.toml" "$@" >"$scratch/totals" 2>"$scratch/errors" ||
        { cat "$scratch/errors" >&2; return 1; }
    awk '/Collected :/ { instructions = $NF }
         /"packet_hops":/ { hops = $2 + 0 }
         END { printf "%.1f", instructions / hops }' "$scratch/log" "$scratch/totals"
}

grown=0
echo 'scenario,instructions_per_hop' >"$scratch/csv"
printf '%-24s %12s %12s %8s\n' '' now recorded change
for scenario in "${scenarios[@]}"; do
    read -r name overrides <<<"$scenario"
    # The overrides are words of their own.
    # shellcheck disable=SC2086
    now=$(count $overrides)
    echo "$name,$now" >>"$scratch/csv"
    before=$(awk -F , -v name="$name" '$1 == name { print $2 }' "$recorded" 2>/dev/null || true)
    if [[ -z $before ]]; then
        printf '%-24s %12s %12s\n' "$name" "$now" none
        continue
    fi
    change=$(awk -v now="$now" -v before="$before" 'BEGIN { printf "%+.1f", 100 * (now / before - 1) }')
    printf '%-24s %12s %12s %6s %%\n' "$name" "$now" "$before" "$change"
    if awk -v change="$change" 'BEGIN { exit !(change > 10) }'; then grown=1; fi
done

if [[ ${1-} == --record ]]; then
    cp "$scratch/csv" "$recorded"
elif ((grown)); then
    echo "a packet-hop costs over a tenth more instructions than recorded" >&2
    exit 1
fi
