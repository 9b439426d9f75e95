"""Writes what the code declares into the documents: schemes, topologies, traffic, faults, workloads, the totals of a run,
environments, and what each command prints with ``--json``; and the colours of figures into the page's source.

python docs/reference/regenerate.py
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import itertools
import json
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fanin
import fanin.env
from fanin._engine import Scenario
from fanin.claims.verdicts import VERDICTS
from fanin.cli.commands import COMMANDS
from fanin.registry import heading, registry
from fanin.show.plots import styles

FOLDER = Path(__file__).parent
PALETTE = FOLDER.parents[1] / "web/src/ui/palette.json"


def pages() -> dict[Path, str]:
    """Every page that has generated parts, as it should be."""
    parts = {
        FOLDER / "schemes.md": {"schemes": schemes()},
        FOLDER / "glossary.md": {"verdicts": verdicts()},
        FOLDER / "output.md": {"json": shapes(), "totals": totals()},
        FOLDER / "networks.md": {
            "topologies": topologies(),
            "traffic": rows("traffic", "kind"),
            "workloads": workloads(),
            "faults": rows("faults", "kind"),
        },
    }
    found = {FOLDER / "environments.md": environments(), FOLDER / "python.md": python(), PALETTE: palette()}
    for path, texts in parts.items():
        page = path.read_text(encoding="utf-8")
        for name, text in texts.items():
            page = marked(name, page, text)
        found[path] = page
    return found


def marked(name: str, page: str, text: str) -> str:
    """The page with ``text`` between the marks of that name.

    Raises:
        ValueError: it has no such marks.

    """
    begin = f"(?<=<!-- {name}: written by docs/reference/regenerate.py -->\n\n)"
    page, places = re.subn(f"{begin}.*?(?=\n<!-- end of {name} -->)", lambda _: text, page, flags=re.DOTALL)
    if places != 1:
        raise ValueError(f"marks of {name}: {places} instead of one")
    return page


def table(header: list[str], body: Iterable[list[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(cells)} |" for cells in (header, *body)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]) + "\n"


def verdicts() -> str:
    """The verdicts on sentences, each with its meaning and as a value of ``--verdict``."""
    return table(
        ["verdict", "meaning", "`--verdict`"], ([each.name, each.meaning, f"`{each.slug}`"] for each in VERDICTS)
    )


def schemes() -> str:
    """The schemes by their titles, in the order of the registry."""
    manuals = [row["manual"] for row in registry()["schemes"]]
    titles = list(dict.fromkeys(map(heading, manuals)))
    return textwrap.fill(f"{', '.join(titles[:-1])} and {titles[-1]}.", 132, break_on_hyphens=False) + "\n"


def palette() -> str:
    """The colours and markers of figures, for the page to draw with the same."""
    schemes = ",\n".join(f'    "{name}": {json.dumps(look)}' for name, look in styles.of_schemes().items())
    others, markers, alone = (json.dumps(each) for each in (styles.OTHERS, styles.MARKERS, styles.ALONE))
    return f"""{{
  "schemes": {{
{schemes}
  }},
  "others": {others},
  "markers": {markers},
  "alone": {alone}
}}
"""


def topologies() -> str:
    """The topologies with the switches that each has by its defaults."""
    body = [
        [
            f"`{row['key']}`",
            row["summary"].rstrip("."),
            switches(row["key"]) if all(param["default"] for param in row["params"]) else "as listed",
            keys(row),
        ]
        for row in registry()["topologies"]
    ]
    return table(["`topology`", "what it is", "switches", "keys and defaults"], body)


def switches(topology: str) -> str:
    """The names of a topology's switches, those of one tier by the first and the last."""
    text = f'[network]\ntopology = "{topology}"\n[[traffic]]\nkind = "incast"\nsenders = 2\nbytes-each = "1KB"\n'
    nodes = Scenario(f'{text}[run]\nduration = "1ms"\n').network()["nodes"]
    found = [node["name"] for node in nodes if node["kind"] == "switch"]
    number = {name: int(f"0{name.partition('-')[2]}") for name in found}
    tiers = itertools.groupby(sorted(found, key=_tier), key=_tier)
    named = [sorted(names, key=number.__getitem__) for _, names in tiers]
    return ", ".join(f"`{names[0]}` ... `{names[-1]}`" if len(names) > 1 else f"`{names[0]}`" for names in named)


def _tier(switch: str) -> str:
    return switch.partition("-")[0]


def rows(name: str, key: str) -> str:
    """What a registry has, with the keys of each row."""
    body = [[f"`{row['key']}`", row["summary"].rstrip("."), keys(row)] for row in registry()[name]]
    return table([f"`{key}`", "what", "keys and defaults"], body)


def keys(row: dict[str, Any]) -> str:
    """The keys of a row's table with their defaults; a key without one must be given."""
    return ", ".join(f"`{param['key']}` {param['default']}".strip() for param in row["params"])


def workloads() -> str:
    """The published distributions of flow sizes."""
    body = [
        [
            f'`"{row["key"]}"`',
            row["summary"].rstrip("."),
            row["citation"],
            f"{len(row['points'])}; {row['precision']}",
            f"{row['mean_bytes']:,.0f} B",
            f"{row['stated_mean_bytes']:,.0f} B: {row['mean_from']}",
        ]
        for row in registry()["workloads"]
    ]
    return table(["`bytes-each`", "what", "source", "points", "mean", "mean in the source"], body)


def shapes() -> str:
    """What each command prints with ``--json``, as its help says."""
    body = [
        [f"`{name}`", _coded(paragraph.removeprefix("--json ").removeprefix("prints "))]
        for name, command in COMMANDS.items()
        for paragraph in stated(command.module)
    ]
    return table(["command", "`--json` prints"], body)


def stated(module: str) -> list[str]:
    """The paragraphs of a command's help that say what ``--json`` prints, each on one line."""
    function = getattr(importlib.import_module(f"fanin.cli.{module}"), module)
    paragraphs = (" ".join(part.split()) for part in (inspect.getdoc(function) or "").split("\n\n"))
    return [paragraph for paragraph in paragraphs if paragraph.startswith("--json ")]


def _coded(text: str) -> str:
    """The text with every shape in braces as code."""
    parts, depth = [], 0
    for each in text:
        depth += each == "{"
        parts.append("`{" if each == "{" and depth == 1 else "}`" if each == "}" and depth == 1 else each)
        depth -= each == "}"
    return "".join(parts)


def totals() -> str:
    """The totals, in the order of reading."""
    body = []
    for total in registry()["totals"]:
        better = "" if total["better"] == "neither" else total["better"]
        of_groups = "yes" if total["of_groups"] else ""
        said = total["doc"] or ": ".join(filter(None, (total["label"], total["definition"])))
        said = said[:1].upper() + said[1:].rstrip(".")
        body.append([f"`{total['name']}`", total["unit"], better, of_groups, said])
    return table(["key", "unit", "better", "groups", "definition"], body)


def environments() -> str:
    """The page about environments."""
    parts = [_HEAD]
    for row in registry()["environments"]:
        parts.append(f"## {row['key']}\n\n{row['summary']}\n\n{row['manual']}\n")
        for part in ("stack", "switch"):
            if row[part]:
                body = ([f"`{each['path']}`", f"`{each['value']}`", each["source"]] for each in row[part])
                parts.append(table([part, "default", "source"], body))
    return "\n".join(parts)


def python() -> str:
    """The page about Python: what the package exports, by its signatures and doc strings."""
    scenario = fanin.Scenario
    parts = [_PYTHON, "## Scenario\n", *of_function(scenario.__init__, "fanin.Scenario")]
    parts += [part for name in _OF_SCENARIO for part in of_function(getattr(scenario, name), f"Scenario.{name}")]
    parts.append("## Questions\n")
    parts += [part for name in _QUESTIONS for part in of_function(getattr(fanin, name), f"fanin.{name}")]
    parts.append("## A run that you drive\n")
    for kind, methods in ((fanin.Simulation, _STEPS), (fanin.Observation, ())):
        fields = {name: said for name, said in members(kind).items() if "(" not in name}
        parts += of_class(kind, fields, described(kind))
        parts += [
            part for method in methods for part in of_function(getattr(kind, method), f"{kind.__name__}.{method}")
        ]
    parts.append("## An environment of gymnasium\n")
    for function in (fanin.env.make, fanin.env.make_vector, fanin.env.waiting):
        parts += of_function(function, f"fanin.env.{function.__name__}")
    parts += ["## Schemes in Python\n", "[Write a scheme in Python](../how-to/python-scheme.md) has examples.\n"]
    for kind in (getattr(fanin, name) for name in _OF_SCHEMES):
        parts += of_class(kind, members(kind, whole), described(kind))
    parts += [part for name in _OF_NAMES for part in of_function(getattr(fanin, name), f"fanin.{name}")]
    parts.append("## Answers\n")
    for name in _ANSWERS:
        kind = getattr(fanin, name)
        parts += of_class(kind, members(kind), [summary(kind)])
    errors = [name for name in fanin.__all__ if name.endswith(("Error", "Warning"))]
    rows = [[f"`{name}`", summary(getattr(fanin, name))] for name in errors]
    return "\n".join([*parts, "## Errors and warnings\n", table(["name", "meaning"], rows)])


_OF_SCENARIO = ("set", "vary", "run", "start", "check", "warnings", "resolved", "network", "loads")
"""Methods of a scenario that users need; the others are the package's own."""

_QUESTIONS = ("sweep", "compare", "capacity", "tune", "advise", "plot", "fct", "to_pandas")

_ANSWERS = ("Run", "Runs", "Point", "Comparison", "Capacities", "Tuning", "Recommendation", "Picture", "Slowdowns")

_OF_SCHEMES = (
    *("CongestionControl", "SenderCx", "AckEvent", "Delay", "Transfer", "Flow", "Threshold"),
    *("WindowControl", "ReceiverCx", "Arrival", "Node"),
    *("SwitchAgent", "SwitchCx", "Packet", "Passage", "Port", "Controller", "ControllerCx"),
)

_OF_NAMES = ("param", "register", "unregister")

_STEPS = ("step", "observe", "set", "result")


def of_class(kind: type, own: dict[str, str], said: list[str]) -> list[str]:
    """A class: what is said of it, and a table of what its objects have."""
    rows = [[f"`{plain(member)}`", meaning] for member, meaning in own.items()]
    return [f"### `{kind.__name__}`\n", *(f"{each}\n" for each in said), table(["name", "meaning"], rows)]


def described(kind: type) -> list[str]:
    """All paragraphs of a class's doc string but its example."""
    return [plain(each) for each in (inspect.getdoc(kind) or "").split("\n\n") if not each.startswith(">>>")]


def whole(thing: object) -> str:
    """All of a doc string on one line."""
    return plain(inspect.getdoc(thing) or "")


def summary(thing: object) -> str:
    """The first paragraph of a doc string."""
    return plain((inspect.getdoc(thing) or "").partition("\n\n")[0])


def members(kind: type, say: Callable[[object], str] = summary) -> dict[str, str]:
    """What objects of a class have: fields that have a word below them, properties and methods, each with that word."""
    if kind.__module__ == "fanin._engine":
        own = {name: each for name, each in sorted(vars(kind).items()) if not name.startswith("_")}
        return {f"{name}{signature(each)}": say(each) for name, each in own.items()}
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for each, after in itertools.pairwise([*tree.body, ast.Pass()]):
        match each, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                found[name] = plain(said)
    for name, each in vars(kind).items():
        if isinstance(each, property | functools.cached_property) and not name.startswith("_"):
            found[name] = say(each)
        elif inspect.isfunction(each) and not name.startswith("_"):
            found[f"{name}({', '.join(given(each))})"] = say(each)
    return found


def signature(member: Any) -> str:
    """The arguments of a method of the engine; none of a value."""
    return re.sub(r"self, /(, )?", "", str(inspect.signature(member))) if callable(member) else ""


def given(function: Any) -> list[str]:
    """The parameters of a function as they are written; of defaults that are functions, only that there is one."""
    found, is_marked = [], False
    for each in inspect.signature(function).parameters.values():
        default = "" if each.default is each.empty else " = ..." if callable(each.default) else f" = {each.default!r}"
        if each.kind is each.KEYWORD_ONLY and not is_marked:
            found.append("*")
            is_marked = True
        stars = "**" if each.kind is each.VAR_KEYWORD else ""
        found += [f"{stars}{each.name}: {each.annotation}{default}"] * (each.name != "self")
    return found


def of_function(function: Any, name: str) -> list[str]:
    """A function: its signature, what it does, its arguments, what it raises, and an example."""
    back = "" if name == "fanin.Scenario" else f" -> {inspect.signature(function).return_annotation}"
    whole = f"{name}({', '.join(given(function))}){back}"
    if len(whole) > _WIDTH:
        whole = "\n".join([f"{name}(", *(f"    {each}," for each in given(function)), f"){back}"])
    parts = [f"### `{name}`\n", textwrap.indent(whole, "    ") + "\n"]
    for part in (inspect.getdoc(function) or "").split("\n\n"):
        head, _, rest = part.partition("\n")
        if head in _LISTED:
            entries = re.findall(r"(?ms)^ {4}(\w+): (.*?)(?=^ {4}\w|\Z)", f"{rest}\n")
            parts.append(table([_LISTED[head], "meaning"], ([f"`{each}`", plain(said)] for each, said in entries)))
        elif head.startswith(">>>"):
            parts.append(re.sub(r"(?m)^(>>>|\.\.\.) ?", "    ", part) + "\n")
        else:
            parts.append(f"{plain(part)}\n")
    return parts


_WIDTH = 120

_LISTED = {"Args:": "argument", "Raises:": "raises"}


def plain(text: str) -> str:
    """Words of a doc string in Markdown, on one line."""
    text = re.sub(r":\w+:`(?:fanin\.)?([^`]*)`", r"`\1`", text)
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


_PYTHON = """\
<!-- Written by docs/reference/regenerate.py. -->

# Python

A *scenario* is an object: read it, change it, run it. Questions about it are functions, one for each command, with the same results.
[Use it from Python](../how-to/python.md) shows them at work. Tables are [polars](https://pola.rs) frames; [Outputs](output.md) has their columns.
"""

_HEAD = """\
<!-- Written by docs/reference/regenerate.py. -->

# Environments

An *environment* is the set of defaults of the tool in which a paper was simulated or measured. Use it to run a paper's systems as its
authors did: a parameter that the paper does not state had that tool's default. It applies to every system of a figure:

    environment = "qualnet"         # before the first table of a scenario file

| part | defaults of | select it alone with |
|---|---|---|
| *stack* | the hosts: `[transport]` | `transport.stack` |
| *switch* | the ports: `[network]` and `[queue]` | `network.switch` |

A part that is selected alone replaces the environment's. Values in the scenario file override both, and so do values that a scheme requires.
[Decision 10](../adr/0010-environments-and-stacks.md) has the reasons.

    fanin list environments
    fanin explain qualnet
    fanin check sdtcp/fig9 --resolved                # where each value comes from
    fanin reproduce dtcwa --environment rfc          # kept apart, in results/changed
    fanin run scenario.toml --set transport.scheme=dctcp --set transport.stack=linux-6.12

## What no environment sets

**Queues of hosts.** In fanin the queue of a host's own link has no limit: it drops and marks nothing, and only windows limit it. There are two
exceptions. `linux-6.12` sets `host-queue = 1000` and TCP small queues, and `mininet-2.2` sets TCP small queues. The tools themselves limit that queue:

| environment | a host's queue in the tool |
|---|---|
| `rfc` | not specified |
| `qualnet` | FIFO, 150,000 bytes for each of three priorities: the scenario files below set it without naming a node, so presumably for hosts too |
| `ns3-2020` | FQ-CoDel: 10240 packets, 5 ms and ECN (`fq-codel-queue-disc.cc`); then 100 packets in the device (`drop-tail-queue.h`), which stops it when full |
| `ns3.18-rdtcp` | that of a switch without RED: 120,000 bytes, marks from 60,000 bytes on (`SetupToR` and the defaults in all seven of its scripts) |
| `mininet-2.2` | that of a switch's port: `TCLink` gives both ends of a link one rate, RED and `max_queue_size` (`link.py`) |
| `linux-6.12` | `pfifo_fast`, 1000 packets (`DEFAULT_TX_QUEUE_LEN`), or where `net.core.default_qdisc` says so FQ-CoDel: 10240 packets, 5 ms (`tc-fq_codel(8)`) |

With one connection per host, receive windows are smaller than these limits:

| tool | receive window |
|---|---:|
| QualNet | 16 KiB |
| ns-3.18 | 64 KiB |
| ns-3.31 | 128 KiB, which are 91 segments of 1448 bytes |

So no packet can be lost in a host, and the missing limit changes nothing. FQ-CoDel's target of 5 ms is not reached at 1 Gbit/s either: 91 packets
take 1.1 ms. The limit can matter in these cases:

- **Many connections start on one host**, as with `placement = "round-robin"` (DT-CWA's nine workers) or in closed loops. The sum of their
  windows may exceed 120,000 bytes in rdtcp or 150,000 in QualNet. The host would then drop what waits here. The host of ns-3.31 drops only
  beyond 10240 packets. But its FQ-CoDel sends the connections' packets in turn, not in the order in which they came.
- **Two windows in rdtcp.** A host marks from 60,000 bytes on, which two windows may exceed, and nearly one.
- **A window of more than a few hundred packets.** FQ-CoDel would then mark or drop in the host. Linux's receive buffer autotuning may give such a
  window, and so may links of 100 Mbit/s or less, or a `receive-buffer` of several megabytes.
- **Mininet with `enable_ecn`.** A flow that only its own host's link limits has its queue there. RED in the host marks it from 30,000 bytes
  on, or drops it if it is not ECT. Here such a queue grows to the window.

TCP small queues limit a connection's share of a host's queue in Linux. The limit is 128 KiB in Linux 3.16. In Linux 6 it is about a millisecond at
the connection's pacing rate. Small queues hold segments back in the host instead of dropping them, so one connection cannot overflow Mininet's 100
packets. Where in a host a segment waits changes neither its order nor when it leaves, except between connections of one host.

**Start-up of connections** is a property of a paper's program and not of a tool. It is written per traffic group:

| `connections` | meaning |
|---|---|
| `"fresh"` (the default) | a handshake, then data at once |
| `"opened"` with `open-at` | handshakes before the first round |
| `"persistent"` | no handshake in the run |

The stacks have what tools decide about it: `syn-timeout`, `syn-retries`, `initial-window`, `rto-after-syn-timeout`, `ecn-syn`.

The time that an operating system takes to accept a connection is not modelled. Neither is a limit of connections that
wait to be accepted (`somaxconn`: 128 by default before Linux 5.4, 4096 since). Both matter where a program accepts slowly and more servers than
that connect to one client at once, as SDTCP's 150 may. Their SYNs would then be repeated after a second.
"""


if __name__ == "__main__":
    for path, page in pages().items():
        path.write_text(page, encoding="utf-8")
