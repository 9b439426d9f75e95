# SPDX-License-Identifier: GPL-2.0-only
"""The cells of the comparison: what ns-3 and fanin both run, and the measures taken from a run."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = HERE / "incast"
OLD_DRIVER = HERE / "incast-3.36"
FABRIC = HERE / "fabric"
REFERENCE = HERE / "reference.csv"
SEEDS = range(1, 21)

MEASURES = {
    "goodput_mbps": "answered bytes x 8 / (last byte received - t0)",
    "fct_mean_ms": "mean over flows of last byte received - the flow's own start",
    "fct_p99_ms": "its 99th percentile over the flows of a run, nearest rank",
    "queue_mean_packets": "time average of the packets at the receiver's port, from t0 to the last byte",
    "drops": "packets the receiver's port refused",
    "marks": "packets the receiver's port marked",
    "timeouts": "retransmission timers that fired",
}
# Kept as well, for reading and for the lone flow, but not compared as distributions.
OTHERS = (
    "last_byte_ns",
    "first_fct_ns",
    "retransmissions",
    "queue_max_packets",
    "data_packets_received",
    "packet_hops",
)
COUNTS = ("drops", "marks", "timeouts", *OTHERS)


@dataclass(frozen=True)
class Family:
    """One transport in one setting, at several fan-ins."""

    name: str
    senders: tuple[int, ...]
    driver: tuple[str, ...]  # options of ./incast
    scenario: str  # fanin's scenario file
    rules: tuple[str, ...]  # the --set options that make fanin's TCP ns-3's
    overrides: tuple[str, ...] = ()  # the --set options of this family
    title: str = field(default="", compare=False)
    seeds: range = SEEDS  # one run suffices where nothing is drawn
    flows: int = 0  # so many flows of a list on the leaf-spine network of ./fabric
    old: bool = (
        False  # ns-3.36, built from its source, and not the wheel's release; it takes the starts that fanin has drawn
    )


# The rules of ns-3's TCP that are not fanin's defaults: docs/validation/ns3.md has a row for each.
RULES = (
    "network.ties=fresh-first",  # the order of its events
    "transport.rto-backoff-limit=16",  # it doubles up to 60 s
    "transport.like=ns3.44",  # loss recovery, RTT samples, whole bytes
)
NEWRENO_RULES = (
    *RULES,
    "transport.window-validation=false",  # its NewReno grows windows that are not used
    "scheme.newreno.flavour=ns-3",
)
# A sender here always has room for one segment. ns-3's own DCTCP has no smallest window: NO_FLOOR comes closest.
DCTCP_RULES = (
    *RULES,
    "transport.ecn-retransmit=true",
    "transport.growth-after-echo=false",
    "scheme.dctcp.flavour=ns-3",
)
# DCTCP as ns-3 ships it, which has windows below a segment; in the star of PFDCT it is what PFDCT is compared with.
STAR_RULES = (
    "network.ties=scheduled",  # what fits packets that take longer than a link
    "transport.rto-backoff-limit=16",
    "transport.like=ns3.44",
    "transport.window-validation=false",
    "transport.ecn-retransmit=true",
    "transport.growth-after-echo=false",
    "transport.quickack=1",  # the handshake leaves its count full: the first segment is acknowledged at once
    "scheme.dctcp.flavour=ns-3.36",
    "scheme.pfdct.rtt=ns-3",
    "scheme.pfdct.kt-transport=oracle",  # the driver's switch and senders share memory
)
NO_FLOOR = "scheme.dctcp.min-window=1mss"

# What fast links with few packets of bandwidth-delay product need instead of the files' values.
FAST = (
    "network.rate=10Gbps",
    "network.delay=5us",
    "network.buffer=200pkt",
    "transport.initial-window=4mss",
    "transport.rto-min=5ms",
    "transport.rto-initial=5ms",
    "traffic.bursts.bytes-each=150KB",
)
FAST_NS3 = ("--rate=10Gbps", "--delay=5us", "--buffer=200", "--initial-window=4", "--min-rto=5", "--size=150000")

# PFDCT's star: section 5.1 and 5.2 of Li et al. 2023, with ns-3's delayed acknowledgements, SACK and time stamps.
STAR = (
    "--size=1500000",
    "--mss=1448",
    "--delay=10us",
    "--ack-every=2",
    "--sack=true",
    "--timestamps=true",
    "--min-rto=0.2",
)
STAR_SEEDS = range(1, 11)  # as many as the paper's figures have here: a run takes seconds


def star(
    name: str,
    title: str,
    driver: tuple[str, ...],
    overrides: tuple[str, ...],
    device: int,
    senders: tuple[int, ...],
    old: bool = False,
) -> Family:
    """A family on PFDCT's star, with so many packets in the devices' queues; of ns-3.36 with its rate reduction if old."""
    options = (*STAR, *driver, f"--device={device}", *(("--recovery=prr",) if old else ()))
    rules = tuple(rule.replace("ns3.44", "ns3.36") for rule in STAR_RULES) if old else STAR_RULES
    values = (*overrides, f"network.device-queue={device}pkt")
    title = f"{title}, device queue of {device}{', ns-3.36 and its rate reduction' if old else ''}"
    return Family(name, senders, options, "pfdct.toml", rules, values, title, STAR_SEEDS, old=old)


MANY = (10, 20, 30, 50)
FEW = (10, 30, 50)
DCTCP = ("transport.scheme=dctcp",)
PFDCT_RED = (
    "scheme.pfdct.aqm=red",
    "scheme.pfdct.short-aqm=red",
    "scheme.pfdct.red-weight=1",
    "scheme.pfdct.red-max-p=0.02",
    "scheme.pfdct.red-gentle=true",
    "scheme.pfdct.red-wait=true",
)
EACH_ACK, FIXED = ("scheme.pfdct.growth=each-ack",), ("scheme.pfdct.kt-dir=frozen",)
STARS = (
    star("star-dctcp", "DCTCP", ("--tcp=dctcp",), DCTCP, 1, FEW),
    star("star-dctcp-device", "DCTCP", ("--tcp=dctcp",), DCTCP, 100, MANY),
    star("star-pfdct", "PFDCT", ("--tcp=pfdct",), (), 1, FEW),
    star("star-pfdct-device", "PFDCT", ("--tcp=pfdct",), (), 100, MANY),
    star("star-each-ack", "PFDCT, growth with each ACK", ("--tcp=pfdct", "--grow-each-ack=true"), EACH_ACK, 1, FEW),
    star(
        "star-each-ack-device",
        "PFDCT, growth with each ACK",
        ("--tcp=pfdct", "--grow-each-ack=true"),
        EACH_ACK,
        100,
        FEW,
    ),
    star("star-red", "PFDCT, RED in both bands", ("--tcp=pfdct", "--red=true"), PFDCT_RED, 1, FEW),
    star("star-fixed", "PFDCT, fixed threshold", ("--tcp=pfdct", "--moving=false"), FIXED, 1, FEW),
    star("star-dctcp-3.36", "DCTCP", ("--tcp=dctcp",), DCTCP, 1, FEW, old=True),
    star("star-dctcp-device-3.36", "DCTCP", ("--tcp=dctcp",), DCTCP, 100, FEW, old=True),
    star("star-pfdct-3.36", "PFDCT", ("--tcp=pfdct",), (), 1, FEW, old=True),
)

FAMILIES = (
    Family(
        "lone",
        (1,),
        ("--tcp=newreno", "--jitter=0"),
        "newreno.toml",
        NEWRENO_RULES,
        ("traffic.bursts.jitter=0s",),
        "one flow alone",
        range(1, 2),
    ),
    Family("newreno", (10, 40, 100), ("--tcp=newreno",), "newreno.toml", NEWRENO_RULES, (), "NewReno, drop-tail"),
    Family(
        "newreno-sack",
        (10, 40, 100),
        ("--tcp=newreno", "--sack=true"),
        "newreno.toml",
        NEWRENO_RULES,
        ("transport.sack=true",),
        "NewReno with SACK, drop-tail",
    ),
    Family(
        "dctcp-lossfree",
        (10, 20, 40),
        ("--tcp=dctcp-rfc", "--sack=true", "--initial-window=1"),
        "dctcp.toml",
        DCTCP_RULES,
        ("transport.sack=true", "transport.initial-window=1mss"),
        "DCTCP with losses handled as RFC 8257 says, initial window 1: nothing is dropped",
    ),
    Family(
        "dctcp-rfc",
        (10, 40, 100),
        ("--tcp=dctcp-rfc", "--sack=true"),
        "dctcp.toml",
        DCTCP_RULES,
        ("transport.sack=true",),
        "DCTCP with losses handled as RFC 8257 says, SACK",
    ),
    Family(
        "dctcp",
        (10, 40, 100),
        ("--tcp=dctcp",),
        "dctcp.toml",
        (*DCTCP_RULES, NO_FLOOR),
        (),
        "DCTCP as ns-3 ships it",
    ),
    Family("fast", (33,), ("--tcp=newreno", *FAST_NS3), "newreno.toml", NEWRENO_RULES, FAST, "NewReno at 10 Gbit/s"),
    Family(
        "fast-sack",
        (33,),
        ("--tcp=newreno", "--sack=true", *FAST_NS3),
        "newreno.toml",
        NEWRENO_RULES,
        ("transport.sack=true", *FAST),
        "NewReno with SACK at 10 Gbit/s",
    ),
    Family(
        "iw1",
        (50, 64),
        ("--tcp=newreno", "--initial-window=1"),
        "newreno.toml",
        NEWRENO_RULES,
        ("transport.initial-window=1mss",),
        "NewReno, initial window 1",
    ),
    Family(
        "long",
        (8,),
        ("--tcp=newreno", "--size=10000000"),
        "newreno.toml",
        NEWRENO_RULES,
        ("traffic.bursts.bytes-each=10MB",),
        "NewReno, few long flows",
    ),
    # Every sender begins at the same instant: packets meet at the switch exactly, again and again.
    Family(
        "ties",
        (20, 40),
        ("--tcp=newreno", "--jitter=0"),
        "newreno.toml",
        NEWRENO_RULES,
        ("traffic.bursts.jitter=0s",),
        "NewReno, exact ties in the order of ns-3's events",
        range(1, 2),
    ),
    # The same, but which packet comes first is drawn for every instant. Starts drawn within 1 us would not do: they draw one
    # order, which then stays, and as senders are alike all seeds are one run.
    Family(
        "ties-drawn",
        (20, 40),
        ("--tcp=newreno", "--jitter=0", "--tie-noise=10"),
        "newreno.toml",
        tuple(rule for rule in NEWRENO_RULES if not rule.startswith("network.ties=")),
        ("traffic.bursts.jitter=0s",),
        "NewReno, exact ties drawn",
    ),
    Family(
        "fabric",
        (64,),
        (),
        "fabric.toml",
        NEWRENO_RULES,
        (),
        "NewReno, ten thousand short flows between the hosts of a leaf-spine network",
        range(2, 4),
        flows=10_000,
    ),
    *STARS,
)


@dataclass(frozen=True)
class Cell:
    """A family at one fan-in."""

    family: Family
    senders: int

    @property
    def name(self) -> str:
        return f"{self.family.name}/{self.senders}"

    @property
    def seeds(self) -> range:
        return self.family.seeds


def flow_list(cell: Cell, seed: int) -> str:
    """The flows of a run of `fabric`: Poisson arrivals that load the hosts' links to 40 %, 2 to 50 kB each."""
    draw = random.Random(seed)
    per_ns = 0.4 * cell.senders * 1e9 / (8 * 26_000) * 1e-9
    lines, at = ["start_ns,src,dst,bytes"], 0.0
    for _ in range(cell.family.flows):
        at += draw.expovariate(per_ns)
        src, dst = draw.sample(range(cell.senders), 2)
        lines.append(f"{int(at)},{src},{dst},{draw.randint(2000, 50_000)}")
    return "\n".join(lines) + "\n"


CELLS = tuple(Cell(family, n) for family in FAMILIES for n in family.senders)
