"""Writes what the code declares into the documents: schemes, topologies, traffic, faults, workloads, the totals of a run,
environments, and what each command prints with ``--json``.

python docs/reference/regenerate.py
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fanin
from fanin.cli.commands import COMMANDS
from fanin.registry import registry

FOLDER = Path(__file__).parent
README = FOLDER.parents[1] / "README.md"


def pages() -> dict[Path, str]:
    """Every page that has generated parts, as it should be."""
    parts = {
        README: {"schemes": schemes()},
        FOLDER / "output.md": {"json": shapes(), "totals": totals()},
        FOLDER / "networks.md": {
            "topologies": topologies(),
            "traffic": rows("traffic", "kind"),
            "workloads": workloads(),
            "faults": rows("faults", "kind"),
        },
    }
    found = {FOLDER / "environments.md": environments()}
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


def schemes() -> str:
    """The schemes by their titles, in the order of the registry."""
    manuals = [row["manual"] for row in registry()["schemes"]]
    titles = list(dict.fromkeys(manual.partition("\n")[0].removeprefix("# ") for manual in manuals))
    return textwrap.fill(f"{', '.join(titles[:-1])} and {titles[-1]}.", 132, break_on_hyphens=False) + "\n"


def topologies() -> str:
    """The topologies with the switches that each has by its defaults."""
    body = [
        [f"`{row['key']}`", row["summary"].rstrip("."), switches(row["key"]), keys(row)]
        for row in registry()["topologies"]
    ]
    return table(["`topology`", "what it is", "switches", "keys and defaults"], body)


def switches(topology: str) -> str:
    """The names of a topology's switches, those of one tier by the first and the last."""
    text = f'[network]\ntopology = "{topology}"\n[[traffic]]\nkind = "incast"\nsenders = 2\nbytes-each = "1KB"\n'
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "scenario.toml").write_text(f'{text}[run]\nduration = "1ms"\n', encoding="utf-8")
        links = fanin.load(path).links()["link"]
    ends = [end.partition("/")[0] for link in links for end in link.split("->")]
    found = [end for end in dict.fromkeys(ends) if end.partition("-")[0] not in {"host", "sender", "receiver"}]
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
        if not command.hidden
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


_HEAD = """\
<!-- Written by docs/reference/regenerate.py. -->

# Environments

A parameter that a paper does not state had the default of the tool that it used. An environment is the set of that tool's
defaults, and applies to every system of a figure:

    environment = "qualnet"         # before the first table of a scenario file

It has two parts. The *stack* gives the hosts' defaults in `[transport]`, the *switch* those of the ports in `[network]`
and `[queue]`. Each can be selected alone, with `transport.stack` and `network.switch`, and then replaces the environment's.
Explicit scenario values override both, and so do values that a scheme requires.
[Decision 10](../adr/0010-environments-and-stacks.md) has the reasons.

    fanin list environments
    fanin explain qualnet
    fanin check sdtcp/fig9 --resolved                # where each value comes from
    fanin reproduce dtcwa --environment rfc          # kept apart, in results/changed
    fanin run scenario.toml --set transport.scheme=dctcp --set transport.stack=linux-6
"""


if __name__ == "__main__":
    for path, page in pages().items():
        path.write_text(page, encoding="utf-8")
