"""The scripts of the comparison: short scenarios in which exactly the listed packets are lost, delayed or marked."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jinja2
import numpy as np
from cells import COUNTS, HERE, MODULES, PATHS, Entry, digest, kernel_digest, kernels, read_rows, sources, write_rows

from fanin import _engine
from fanin.results.frames import decode

SCRIPTS_STORED = HERE / "scripts.jsonl"
SCRIPTS_WITHIN = HERE / "scripts.txt"
"""The scripts that have been as in the kernel, a line each."""

_DOCUMENT = tomllib.loads((HERE / "scripts.toml").read_text())
_BASE = (HERE / "incast.toml").read_text()
MOST_NS: int = _DOCUMENT["tolerance"]["time-ns"]
"""How far a completion time may be from the kernel's."""
SEGMENT = 1448
"""Bytes of data in a full segment."""
NOTED = ("retransmissions", "timeouts", "tail loss probes")
"""What is counted in a script, and judged."""


@dataclass(frozen=True)
class Script:
    """One scenario and its faults."""

    group: str
    title: str
    own: Mapping[str, Any] = field(hash=False)
    simulator: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What the kernel does unasked, and the simulator has to be told."""
    judged: Sequence[str] = ("time", *NOTED)
    """What has to agree."""

    @property
    def is_before_rack(self) -> bool:
        """Whether it asks for the rules of Linux 3.16."""
        return self.own.get("transport.loss-detection") == "linux-3.16"

    @property
    def why(self) -> str:
        """The rule that makes a difference, where one is due."""
        return str(self.own.get("why", ""))

    @property
    def name(self) -> str:
        """Such as ``one/last of 12``."""
        return f"{self.group}/{self.own['name']}"

    @property
    def settings(self) -> dict[str, Any]:
        """The values that replace those of incast.toml, as dotted paths."""
        values = _DOCUMENT["base"] | {
            k: v for k, v in self.own.items() if k not in ("name", "segments", "faults", "why")
        }
        return {PATHS.get(key, key): value for key, value in values.items()} | {
            "traffic.answers.bytes-each": f"{SEGMENT * self.own['segments']}B"
        }

    @property
    def faults(self) -> list[dict[str, str]]:
        """Its tables of faults."""
        links = _DOCUMENT["links"]
        return [
            {"kind": "drop"} | fault | {"name": f"fault-{i}", "link": links[fault.get("link", "replies")]}
            for i, fault in enumerate(self.own["faults"])
        ]

    @property
    def text(self) -> str:
        """The scenario, but for its settings."""
        tables = ("".join(f"{key} = {json.dumps(value)}\n" for key, value in fault.items()) for fault in self.faults)
        return _BASE + "".join(f"\n[[fault]]\n{table}" for table in tables)

    @property
    def digest(self) -> str:
        """Of everything that it runs."""
        module = MODULES.get(self.own.get("scheme", ""))
        return digest(sources(module) if module else [], self.text + json.dumps(self.settings, sort_keys=True))


SCRIPTS = tuple(
    Script(
        group["name"],
        group["title"],
        group.get("set", {}) | own,
        group.get("simulator", {}),
        tuple(group.get("judged", Script.judged)),
    )
    for group in _DOCUMENT["group"]
    for own in group["scripts"]
)


@dataclass(frozen=True)
class Played:
    """What is kept of a script."""

    times: tuple[int, ...]
    """Completion times of its transfers in nanoseconds, in the order of their starts."""
    counts: Mapping[str, int] = field(hash=False)
    """By name, one of NOTED."""
    lost: int
    """Packets that the script lost."""

    @property
    def row(self) -> dict[str, Any]:
        """As it is stored."""
        return {"times": self.times, **self.counts, "lost": self.lost}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Played:
        """From what is stored."""
        return cls(tuple(row["times"]), {name: row[name] for name in NOTED}, row["lost"])


def play(script: Script, backend: str) -> Played:
    """Runs a script in the kernel (``linux``) or in the simulator."""
    settings = script.settings | (dict(script.simulator) if backend == "simulator" else {})
    changes = [*settings.items(), ("run.backend", backend)]
    output = _engine.Scenario(script.text, str(HERE / "incast.toml"), changes).run()
    totals = json.loads(output.summary)
    if totals["completed"] != totals["flows"]:
        raise AssertionError(f"{script.name}: a transfer did not end")
    times = decode(output.columns("flows"))["fct_s"].to_numpy()
    counts = {name: totals[COUNTS[name]] for name in NOTED}
    return Played(tuple(np.rint(times * 1e9).astype(int).tolist()), counts, totals.get("drops_chosen", 0))


def kept() -> dict[str, Entry[Played]]:
    """What the kernel did, by name of the script."""
    return {row["script"]: Entry.of_row(row, Played.of_row(row)) for row in read_rows(SCRIPTS_STORED)}


def keep(entries: Mapping[str, Entry[Played]]) -> None:
    """Writes what the kernel did in today's scripts, one line a script, in the order of the list."""
    named = [(script.name, entries[script.name]) for script in SCRIPTS if script.name in entries]
    write_rows(SCRIPTS_STORED, [{"script": name, **entry.head, **entry.found.row} for name, entry in named])


def record(again: bool, jobs: int, say: Callable[[str], None]) -> None:
    """Runs in the kernel what is not stored, or all scripts, ``jobs`` at a time; nothing where no kernel is built."""
    entries, made, release = kept(), kernel_digest(), kernels().get(1000)
    known = {name: (entry.settings, entry.kernel) for name, entry in entries.items()}
    wanted = [script for script in SCRIPTS if again or known.get(script.name) != (script.digest, made)]
    if wanted and release is None:
        say(f"{len(wanted)} scripts are skipped, since the kernel with HZ=1000 is not built")
    elif wanted:
        begun = time.monotonic()
        with ThreadPoolExecutor(jobs) as pool:
            for script, played in zip(wanted, pool.map(lambda each: play(each, "linux"), wanted), strict=True):
                entries[script.name] = Entry(release or "", made, script.digest, played)
        keep(entries)
        say(f"kernel: {len(wanted)} scripts, {time.monotonic() - begun:.0f} s")


@dataclass(frozen=True)
class Outcome:
    """A script in the kernel and in the simulator."""

    script: Script
    kernel: Played
    ours: Played

    @cached_property
    def beyond(self) -> list[str]:
        """What differs by more than its tolerance: ``time`` or counts."""
        pairs = zip(self.kernel.times, self.ours.times, strict=True)
        late = any(abs(ours - theirs) > MOST_NS for theirs, ours in pairs)
        found = ["time"] * late + [name for name in NOTED if self.kernel.counts[name] != self.ours.counts[name]]
        return [name for name in found if name in self.script.judged]

    @property
    def row(self) -> str:
        """Of the table of scripts: the time of the slowest transfer, and the counts; what differs is bold."""
        slowest = int(np.argmax(self.kernel.times))
        pairs = {"time": tuple(f"{played.times[slowest] / 1000:.1f}" for played in (self.kernel, self.ours))}
        pairs |= {name: (str(self.kernel.counts[name]), str(self.ours.counts[name])) for name in NOTED}
        shown = [f"**{a} / {b}**" if name in self.beyond else f"{a} / {b}" for name, (a, b) in pairs.items()]
        shown.append(f"{self.kernel.lost} / {self.ours.lost}")
        end = self.script.why or ("no" if self.beyond else "yes")
        return "| " + " | ".join([self.script.own["name"], *shown, end]) + " |"


def outcomes(entries: Mapping[str, Entry[Played]]) -> list[Outcome]:
    """Each script that ran in the kernel, and what the simulator makes of it."""
    known = [script for script in SCRIPTS if script.name in entries]
    return [Outcome(script, entries[script.name].found, play(script, "simulator")) for script in known]


def section(found: Sequence[Outcome]) -> str:
    """The part of the page that has the scripts."""
    main = [outcome for outcome in found if not outcome.script.is_before_rack]
    before = [outcome for outcome in found if outcome.script.is_before_rack]

    def grouped(some: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
        titles = dict.fromkeys(outcome.script.title for outcome in some)
        return [(title, [outcome for outcome in some if outcome.script.title == title]) for title in titles]

    template = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    return template.from_string((HERE / "scripts.md.j2").read_text()).render(
        played=main,
        equal=[outcome for outcome in main if not outcome.beyond],
        differs={name: sum(name in outcome.beyond for outcome in main) for name in ("time", *NOTED)},
        scripts=grouped(main),
        shared=[outcome for outcome in before if not outcome.script.why],
        shared_equal=[outcome for outcome in before if not outcome.script.why and not outcome.beyond],
        before=grouped(before),
        most_us=MOST_NS // 1000,
        noted=NOTED,
        releases=sorted({entry.release for entry in kept().values()}),
    )


def as_before() -> list[str]:
    """The scripts that have been as in the kernel."""
    return SCRIPTS_WITHIN.read_text().splitlines() if SCRIPTS_WITHIN.exists() else []


def strayed(found: Sequence[Outcome]) -> dict[str, list[str]]:
    """The scripts that are no longer as in the kernel, and what differs."""
    differ = {outcome.script.name: outcome.beyond for outcome in found if outcome.beyond}
    return {name: differ[name] for name in as_before() if name in differ}


def agree(found: Sequence[Outcome], drop: bool) -> None:
    """Adds scripts to the list of those that are as in the kernel; ``drop`` takes off those that strayed."""
    now = {outcome.script.name for outcome in found if not outcome.beyond}
    listed = now.union(as_before()) - (strayed(found).keys() if drop else set())
    SCRIPTS_WITHIN.write_text("".join(f"{script.name}\n" for script in SCRIPTS if script.name in listed))
