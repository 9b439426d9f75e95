#!/usr/bin/env bash
# Counts the instructions and cache misses that a packet costs on one link, and those of the lower bound (benches/bound).
#
# Usage: crates/engine/benches/instructions.sh [--record]
#
# Runs the example `run` under callgrind, which counts the same on a busy machine as on a quiet one, for the scenarios
# below, and prints instructions per packet-hop beside those in instructions.csv. Fails if any has grown by more than
# a tenth. --record writes that file anew: do so, and commit it, with a change that is meant to cost or to save.
# The whole run counts, set-up and tables included. Compilers differ, so record and compare with the same one. callgrind
# has no SHA instructions, so the hash over the tables shows in the shortest flows (incast1000) more than it takes.
# Misses are those of simulated caches of fixed sizes, 48 KB and 1 MB, whatever the machine has.
set -euo pipefail

# A name, the arguments of the lower bound (senders, bytes, scheme; "-" where it has no such ports), then overrides of
# incast.toml.
scenarios=(
    "incast10-newreno 10,512000,newreno transport.scheme=newreno traffic.incast.senders=10"
    "incast10-dctcp 10,512000,dctcp traffic.incast.senders=10"
    "incast100-newreno 100,512000,newreno transport.scheme=newreno"
    "incast100-dctcp 100,512000,dctcp"
    "incast100-dctcp-bands - queue.kind=strict-priority queue.threshold=20pkt"
    "incast1000-newreno 1000,64000,newreno transport.scheme=newreno traffic.incast.senders=1000 traffic.incast.bytes-each=64KB"
    "incast1000-dctcp 1000,64000,dctcp traffic.incast.senders=1000 traffic.incast.bytes-each=64KB"
)

here=$(cd "$(dirname "$0")" && pwd)
recorded=$here/instructions.csv
command -v valgrind >/dev/null || { echo "instructions.sh needs valgrind" >&2; exit 2; }
case ${1-} in
    '' | --record) ;;
    *) echo "usage: instructions.sh [--record]" >&2; exit 2 ;;
esac

cd "$here/.."
# The paths of what was built.
executables() { sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'; }
run=$(cargo build --quiet --profile profiling --example run --message-format=json | executables)
hops=$(cargo build --quiet --profile profiling --bench hops --message-format=json | executables)
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# Prints instructions, first-level and second-level data misses per packet-hop of a program that prints its packet-hops:
# count PROGRAM ARGUMENT...
count() {
    valgrind --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=49152,12,64 --LL=1048576,16,64 \
        --callgrind-out-file=/dev/null --log-file="$scratch/log" "$@" >"$scratch/printed" 2>"$scratch/errors" ||
        { cat "$scratch/errors" >&2; return 1; }
    # Collected: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
    awk '/Collected :/ { for (i = 1; i <= NF; i++) if ($i == ":") first = i + 1
                         ir = $first; d1 = $(first + 4) + $(first + 5); dl = $(first + 7) + $(first + 8) }
         /"packet_hops":/ { hops = $2 + 0 }
         /^[0-9]+$/ { hops = $1 }
         END { printf "%.1f %.3f %.3f", ir / hops, d1 / hops, dl / hops }' "$scratch/log" "$scratch/printed"
}

grown=0
echo 'scenario,instructions_per_hop,l1_misses_per_hop,l2_misses_per_hop,bound_instructions,bound_l1_misses,bound_l2_misses' \
    >"$scratch/csv"
printf '%-22s %9s %9s %9s %8s %8s   %9s %8s %8s\n' '' now recorded change L1 L2 bound L1 L2
for scenario in "${scenarios[@]}"; do
    read -r name bound overrides <<<"$scenario"
    # The overrides are words of their own.
    # shellcheck disable=SC2086
    read -r now l1 l2 <<<"$(count "$run" "$here/incast.toml" $overrides)"
    read -r bound_now bound_l1 bound_l2 <<<"- - -"
    if [[ $bound != - ]]; then
        # shellcheck disable=SC2086
        read -r bound_now bound_l1 bound_l2 <<<"$(count "$hops" --bound ${bound//,/ })"
    fi
    echo "$name,$now,$l1,$l2,$bound_now,$bound_l1,$bound_l2" | tr -d - | sed "s/^[^,]*/$name/" >>"$scratch/csv"
    before=$(awk -F , -v name="$name" '$1 == name { print $2 }' "$recorded" 2>/dev/null || true)
    change=none
    if [[ -n $before ]]; then
        change=$(awk -v now="$now" -v before="$before" 'BEGIN { printf "%+.1f", 100 * (now / before - 1) }')
        if awk -v change="$change" 'BEGIN { exit !(change > 10) }'; then grown=1; fi
        change="$change %"
    fi
    printf '%-22s %9s %9s %9s %8s %8s   %9s %8s %8s\n' \
        "$name" "$now" "${before:-none}" "$change" "$l1" "$l2" "$bound_now" "$bound_l1" "$bound_l2"
done

if [[ ${1-} == --record ]]; then
    cp "$scratch/csv" "$recorded"
elif ((grown)); then
    echo "a packet-hop costs over a tenth more instructions than recorded" >&2
    exit 1
fi
