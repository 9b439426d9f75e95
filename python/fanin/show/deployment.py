"""A shell script that deploys a scheme on hosts and switches of Linux, checks that it is active, and takes it back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fanin.errors import NotFoundError
from fanin.numbers.units import rate_text
from fanin.scenario.engine_rows import HostPort, Hosts

_ETHERNET = 14
"""Bytes of a packet that Linux counts beside those of IP."""
_BURST_S = 50e-6
"""A timer of the shaper is late by about that, so as much may go at once."""
_LEAST_BURST = 6000
"""Bytes; four frames."""
_LONG, _AGAIN = "0x20", "0x40"
"""Code points of PFDCT's senders for long flows and for retransmissions, as linux/modules/pfdct.h has them."""
_ACKS_AS_SHORT = 1

_Module = tuple[str, str]
_Lines = list[str]


def script(hosts: Hosts, port: HostPort, scheme: str, command: str) -> str:
    """The script for a scheme and a port of a switch, as ``command`` prints it.

    Raises:
        NotFoundError: no queueing discipline does what the port does.

    """
    queues, of_switch = _queues(hosts, port)
    receiver = hosts["receiver"]
    of_senders = [each for each in hosts["modules"] if each[0] != receiver]
    of_receivers = [each for each in hosts["modules"] if each[0] == receiver]
    functions = {
        "sysctls": ["sysctl " + " \\\n    ".join(f"net.ipv4.{key}" for key, _ in _sysctls(hosts))],
        **({"sender_load": _loads(of_senders)} if of_senders else {}),
        "host_shown": [*_host_shown(hosts), *_parameters(hosts["modules"])],
        "sender_on": [*(["sender_load"] if of_senders else []), *_host_on(hosts), "noted host_shown"],
        "sender_check": _host_check(hosts),
        "sender_off": [*_host_off(hosts), *_unloads(of_senders), "forget"],
        "receiver_on": ["sender_on"],
        "receiver_check": ["sender_check"],
        "receiver_off": ["sender_off"],
        "switch_on": [
            *_loads(of_switch),
            _SINGLE_ALL,
            "queue_kept",
            *queues,
            "noted switch_shown",
        ],
        "switch_shown": ['tc qdisc show dev "$dev"', *_parameters(of_switch)],
        "switch_check": ["unchanged switch_shown", _expect_queue("tbf"), 'tc -s qdisc show dev "$dev"'],
        "switch_off": ["queue_back", "gro_back", *_unloads(of_switch), "forget"],
    }
    if receiver:
        # The interface may not say its rate.
        speed = f"speed={hosts['rate_bps'] // 1_000_000}"
        functions["receiver_on"] += _loads([(name, f"{speed} {own}") for name, own in of_receivers])
        single = hosts["gro"] and receiver in _COUNTING
        functions["receiver_on"] += [_SINGLE] if single else []
        functions["receiver_on"] += ["queue_kept", f'tc qdisc replace dev "$dev" root {receiver}', "noted host_shown"]
        functions["receiver_check"].append(_expect_queue(receiver))
        back = ["queue_back", *(["gro_back"] if single else [])]
        functions["receiver_off"] = [*back, *_unloads(of_receivers), "sender_off"]
    own = _MODULES if hosts["modules"] or of_switch else ""
    parts = [_HEAD + _values(hosts, port, scheme, command), _SETTINGS, own, _EXPECT, _STATE]
    parts += [f"{name}() {{\n{_indented(lines)}\n}}\n" for name, lines in functions.items()]
    loads = '"sender load "*) sender_load ;;\n' if of_senders else ""
    return "\n".join(filter(None, [*parts, _CASES.replace("*)\n", f"{loads}*)\n", 1)]))


def _indented(lines: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for text in lines for line in text.split("\n"))


_HEAD = """\
#!/bin/sh
# Deploys a scheme on hosts and switches of Linux. As root, with DEV an interface:
#
#   sh FILE sender|receiver on DEV       on a host; DEV leads to the switch
#   sh FILE switch on DEV                on a switch of Linux; DEV leads to the receiver
#   sh FILE sender|receiver|switch check DEV
#   sh FILE sender|receiver|switch off DEV
#
# A host that does both is a receiver. Nothing outlasts a restart.
#
"""

_SETTINGS = """\
set -eu
role=${1-} act=${2-} dev=${3-}
# What was set before; each network namespace has its own.
space=/run/fanin-deploy.$(stat -Lc %i /proc/self/ns/net)
before=$space.$dev
"""

_MODULES = """\
modules=${MODULES:-linux/modules} # in a checkout of fanin

load() { # NAME PARAMETERS: builds a module for the kernel that runs, and loads it. One that is loaded gets them too.
    name=$1 && shift
    if [ -d "/sys/module/$name" ]; then
        for each in "$@"; do echo "${each#*=}" >"/sys/module/$name/parameters/${each%%=*}"; done
        return
    fi
    built=$(mktemp -d)
    cp "$modules"/Makefile "$modules"/*.[ch] "$built"
    make -s -C "$built"
    insmod "$built/$name.ko" "$@"
    rm -r "$built"
}

unload() {
    rmmod "$1" 2>/dev/null || echo "$1 stays: connections or namespaces use it" >&2
}
"""

_EXPECT = """\
expect() { # WHAT VALUE EXPECTED
    [ "$2" = "$3" ] || {
        echo "not active: $1 is '$2', not '$3'" >&2
        exit 1
    }
    echo "$1: $2"
}
"""

_STATE = """\
gro_off() { # INTERFACES: merge no packets there.
    : >"$before.gro"
    for each in "$@"; do
        ethtool -k "$each" | grep -q '^generic-receive-offload: on' || continue
        echo "$each" >>"$space.gro"
        ethtool -K "$each" gro off
    done
}

gro_back() { # Once no other interface here needs it.
    rm "$before.gro"
    ! ls "$space".*.gro >/dev/null 2>&1 && [ -e "$space.gro" ] || return 0
    while read -r each; do ethtool -K "$each" gro on; done <"$space.gro"
    rm "$space.gro"
}

queue_kept() { # Notes the queue that is there; one of an earlier 'on' goes, since not each kind can be changed.
    if [ -e "$before.queue" ]; then
        tc qdisc del dev "$dev" root 2>/dev/null || :
    else
        tc qdisc show dev "$dev" root >"$before.queue"
    fi
}

queue_back() { # One that was set by hand comes back with its default options.
    tc qdisc del dev "$dev" root
    read -r _ kind handle options <"$before.queue"
    rm "$before.queue"
    [ "$handle" != 0: ] || return 0
    tc qdisc replace dev "$dev" root "$kind" || :
    echo "set the options of $kind again: $options" >&2
}

noted() { # FUNCTION: this file is in force, with what the function shows.
    cp "$0" "$before.file"
    "$1" >"$before.shown"
}

unchanged() { # FUNCTION
    cmp -s "$0" "$before.file" || {
        echo "not active: 'on' was run with another file, or not at all" >&2
        exit 1
    }
    "$1" | diff "$before.shown" - >&2 || {
        echo "not active: since 'on', < has become >" >&2
        exit 1
    }
}

forget() {
    rm -f "$before.file" "$before.shown"
}
"""
_SINGLE = '# Merged packets would count as one.\ngro_off "$dev"'
_SINGLE_ALL = """\
# Merged packets would count as one.
# shellcheck disable=SC2046 # several words
gro_off $(ls /sys/class/net)"""
_COUNTING = ("rcc",)
"""Queues of receivers that count the segments that arrive."""

_CASES = """\
case "$role $act $dev" in
"sender on "?* | "sender check "?* | "sender off "?*) "sender_$act" ;;
"receiver on "?* | "receiver check "?* | "receiver off "?*) "receiver_$act" ;;
"switch on "?* | "switch check "?* | "switch off "?*) "switch_$act" ;;
*)
    sed -n '2,/^$/s/^# \\{0,1\\}//p' "$0"
    exit 2
    ;;
esac
"""


def _values(hosts: Hosts, port: HostPort, scheme: str, command: str) -> str:
    """What the reader has to know of the values."""
    own = _port_text(port)
    others = {text: each["name"] for each in hosts["ports"] if (text := _port_text(each)) != own}
    lines = [
        f"{scheme}, printed by: {command}",
        f"The switch's port is {port['name']}: {own}.",
        *(f"Another is {text}: --port '{name}'" for text, name in others.items()),
        f"The MTU is {hosts['mtu']}, and timeouts are those of a kernel with HZ={hosts['hz']}.",
        *(f"`sh FILE sender load` loads {name} alone." for name, _ in hosts["modules"] if name != hosts["receiver"]),
        *(f"The manual of {name} is at the top of linux/modules/{name}.c." for name, _ in hosts["modules"]),
    ]
    return "".join(f"# {line}\n" for line in lines)


def _port_text(port: HostPort) -> str:
    return f"{rate_text(port['rate_bps'])}, {_size(port['limit'])}, {_marks_text(port['marking'])}"


def _marks_text(marking: dict[str, Any] | None) -> str:
    match marking:
        case None:
            return "no marks"
        case {"kind": "threshold"}:
            return f"marks from {_size(marking['threshold'])}"
        case {"kind": "between"}:
            return f"marks from {_size(marking['start'])} until below {_size(marking['stop'])}"
        case {"kind": "bands"}:
            return f"{marking['count']} bands, of which the last marks above {marking['threshold']:g} packets"
    return "other marks"


def _size(size: tuple[int, str] | None) -> str:
    if size is None:
        return "any number of packets"
    return f"{size[0]:,} {'packets' if size[1] == 'pkt' else 'bytes'}"


def _loads(modules: Sequence[_Module]) -> _Lines:
    return [" \\\n    ".join([f"load {name}", *parameters.split()]) for name, parameters in modules]


def _parameters(modules: Sequence[_Module]) -> _Lines:
    """Shows the parameters of modules; a host that only sends has not loaded a receiver's."""
    return [f"grep . /sys/module/{name}/parameters/* 2>/dev/null || :" for name, _ in modules]


def _unloads(modules: Sequence[_Module]) -> _Lines:
    return [f"unload {name}" for name, _ in modules]


def _sysctls(hosts: Hosts) -> list[tuple[str, str]]:
    return [("tcp_congestion_control", hosts["congestion"]), *hosts["sysctls"]]


def _host_on(hosts: Hosts) -> _Lines:
    route = f"rto_min {hosts['rto_min_ms']}ms initcwnd {hosts['initial_window']}" + " quickack 1" * hosts["quick_ack"]
    kept = ['sysctls >"$before"', 'ip -4 route show dev "$dev" >"$before.routes"']
    if not hosts["tso"]:
        kept.append('ip -d link show dev "$dev" | grep -o "gso_max_segs [0-9]*" | cut -d " " -f 2 >"$before.segments"')
    return [
        f'[ -e "$before" ] || {{\n{_indented(kept)}\n}}',
        *(f"sysctl -q -w net.ipv4.{key}={value if value.isalnum() else repr(value)}" for key, value in _sysctls(hosts)),
        "# TCP has no other place for its least timeout and its first window.",
        _routes(f" {route}"),
        *([] if hosts["tso"] else ['ip link set dev "$dev" gso_max_segs 1']),
        *([] if hosts["gro"] else ['gro_off "$dev"']),
        *_paced(hosts),
    ]


def _host_shown(hosts: Hosts) -> _Lines:
    return [
        "sysctls",
        'ip -4 route show dev "$dev"',
        'ip -d link show dev "$dev" | grep -o "gso_max_segs [0-9]*"',
        'ethtool -k "$dev" | grep "^generic-receive-offload"',
        'tc qdisc show dev "$dev"',
    ]


def _host_off(hosts: Hosts) -> _Lines:
    return [
        *(["queue_back"] if hosts["fq"] else []),
        *([] if hosts["gro"] else ["gro_back"]),
        *([] if hosts["tso"] else ['ip link set dev "$dev" gso_max_segs "$(cat "$before.segments")"']),
        _routes(""),
        'sysctl -q -p "$before"',
        'rm "$before" "$before.routes"' + ("" if hosts["tso"] else ' "$before.segments"'),
    ]


def _host_check(hosts: Hosts) -> _Lines:
    return [
        "unchanged host_shown",
        f'expect "congestion control" "$(sysctl -n net.ipv4.tcp_congestion_control)" {hosts["congestion"]}',
        f'expect MTU "$(cat "/sys/class/net/$dev/mtu")" {hosts["mtu"]}',
        'ip -4 route show dev "$dev"',
        "# Connections: the congestion control, and ecn if both ends agreed on it.",
        "ss -Htin",
    ]


def _routes(metrics: str) -> str:
    """Sets the metrics of all routes over the interface."""
    return (
        "while read -r route; do\n"
        "    # shellcheck disable=SC2086 # several words\n"
        f'    ip route change $route dev "$dev"{metrics}\n'
        'done <"$before.routes"'
    )


def _paced(hosts: Hosts) -> _Lines:
    if not hosts["fq"]:
        return []
    limit = f" limit {hosts['queue']}" if hosts["queue"] else ""
    return ["queue_kept", f'tc qdisc replace dev "$dev" root fq{limit}']


def _expect_queue(kind: str) -> str:
    return f'expect queue "$(tc qdisc show dev "$dev" root | cut -d " " -f 2)" {kind}'


def _queues(hosts: Hosts, port: HostPort) -> tuple[_Lines, list[_Module]]:
    """The queueing disciplines of the port, and the module that one of them needs."""
    rate = port["rate_bps"]
    burst = max(_LEAST_BURST, math.ceil(rate * _BURST_S / 8))
    marking: dict[str, Any] = port["marking"] or {"kind": "none"}
    overhead = max(hosts["overhead"] - _ETHERNET, 0)
    shaper = f"tbf rate {rate}bit burst {burst} limit {_bytes(hosts, port['limit'])} overhead {overhead}"
    lines = [
        "# The rate of the port, so that packets wait here and not in the interface.",
        _qdisc("root handle 1:", shaper),
    ]
    match marking["kind"]:
        case "none":
            return [*lines, _qdisc("parent 1:1 handle 10:", _fifo(hosts, port["limit"]))], []
        case "threshold" if not marking["leaving"]:
            at = _packets(hosts, marking["threshold"]) + (1 if marking["above"] else 0)
            return [*lines, *_step(hosts, rate, port["limit"], at, "1:1", 10)], []
        case "threshold":
            raise NotFoundError("mark-at = dequeue: red marks packets as they arrive, so set enqueue")
        case "between":
            start, stop = (_packets(hosts, marking[key]) for key in ("start", "stop"))
            limit = _packets(hosts, port["limit"])
            module = ("between", f"start={start} stop={stop} limit={limit}")
            return [*lines, _qdisc("parent 1:1 handle 10:", "between")], [module]
        case "bands":
            return [*lines, *_bands(hosts, port, marking)], []
    raise NotFoundError(
        "no queueing discipline of Linux, and none of linux/modules, does on a real switch what this port does; "
        "queue.kind has drop-tail, ecn-threshold and double-threshold"
    )


def _bands(hosts: Hosts, port: HostPort, marking: dict[str, Any]) -> _Lines:
    """Strict bands by the code points of PFDCT's senders; only the last one marks."""
    count, unit = marking["count"], (port["limit"] or (0, "pkt"))[1]
    if not any("kt_dir=frozen" in parameters for _, parameters in hosts["modules"]):
        raise NotFoundError(
            "PFDCT's threshold would have to reach the switch in each packet, and Linux lets no congestion control "
            "write that: deploy pfdct-st, whose threshold is fixed, or set scheme.pfdct.kt-dir=frozen"
        )
    if marking["by_port"]:
        raise NotFoundError("occupancy = port: red marks by the queue of its own band, so set band")
    if marking["ack_tag"] != _ACKS_AS_SHORT and count > 1:
        raise NotFoundError("ack-band: acknowledgements have the code point of short flows, so set short")
    at = math.floor(marking["threshold"]) + 1
    if count == 1:
        return _step(hosts, port["rate_bps"], port["limit"], at, "1:1", 10)
    short = " ".join(["1" if count > 2 else "0"] * 16)
    lines = [
        "# Retransmissions, short flows, long flows: by the code points that tcp_pfdct sets.",
        _qdisc("parent 1:1 handle 10:", f"prio bands {count} priomap {short}"),
    ]
    for point, band in ((_AGAIN, 1), (_LONG, count)):
        lines.append(
            'tc filter add dev "$dev" parent 10: protocol ip prio 1 u32 \\\n'
            f"    match ip dsfield {point} 0xfc flowid 10:{band}"
        )
    for band in range(1, count):
        room = (marking["room"][band - 1], unit)
        lines.append(_qdisc(f"parent 10:{band} handle {10 + 10 * band}:", _fifo(hosts, room)))
    room = (marking["room"][count - 1], unit)
    return [*lines, *_step(hosts, port["rate_bps"], room, at, f"10:{count}", 10 + 10 * count)]


def _step(hosts: Hosts, rate: int, limit: tuple[int, str] | None, at: int, parent: str, handle: int) -> _Lines:
    """Marks from a queue of so many packets on, averaged with weight 1/2: tc has no larger one."""
    frame = hosts["mtu"] + _ETHERNET
    threshold = at * frame
    red = (
        f"red limit {_bytes(hosts, limit)} min {threshold} max {threshold} avpkt {frame} burst {at} bandwidth {rate}bit"
    )
    return [
        _qdisc(f"parent {parent} handle {handle}:", f"{red} ecn nodrop"),
        _qdisc(f"parent {handle}:1 handle {handle + 1}:", _fifo(hosts, limit)),
    ]


def _qdisc(where: str, what: str) -> str:
    return f'tc qdisc replace dev "$dev" {where} \\\n    {what}'


def _fifo(hosts: Hosts, limit: tuple[int, str] | None) -> str:
    if limit is not None and limit[1] == "pkt":
        return f"pfifo limit {limit[0]}"
    return f"bfifo limit {_bytes(hosts, limit)}"


def _packets(hosts: Hosts, size: tuple[int, str] | None) -> int:
    """A size in full packets, at least one."""
    if size is None:
        return 1_000_000
    return size[0] if size[1] == "pkt" else max(1, round(size[0] / (hosts["mtu"] + hosts["overhead"])))


def _bytes(hosts: Hosts, size: tuple[int, str] | None) -> int:
    """A size in bytes as Linux counts them."""
    return _packets(hosts, size) * (hosts["mtu"] + _ETHERNET)
