"""Writes what the engine declares into the documents: the schemes, the totals of a run, and the environments.

python docs/reference/regenerate.py
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from fanin.registry import registry

PAGE = Path(__file__).parent / "output.md"
ENVIRONMENTS = Path(__file__).parent / "environments.md"
README = Path(__file__).parents[2] / "README.md"


def marked(name: str, page: str, text: str) -> str:
    """The page with ``text`` between the marks of that name."""
    begin = f"(?<=<!-- {name}: written by docs/reference/regenerate.py -->\n\n)"
    return re.sub(f"{begin}.*?(?=\n<!-- end of {name} -->)", lambda _: text, page, flags=re.DOTALL)


def schemes() -> str:
    """The schemes by their titles, in the order of the registry."""
    manuals = [row["manual"] for row in registry()["schemes"]]
    titles = list(dict.fromkeys(manual.partition("\n")[0].removeprefix("# ") for manual in manuals))
    return textwrap.fill(f"{', '.join(titles[:-1])} and {titles[-1]}.", 132, break_on_hyphens=False) + "\n"


def totals() -> str:
    """The table of totals, in the order of reading."""
    lines = ["| key | unit | better | groups | definition |", "|---|---|---|---|---|"]
    for total in registry()["totals"]:
        better = "" if total["better"] == "neither" else total["better"]
        of_groups = "yes" if total["of_groups"] else ""
        said = total["doc"] or ": ".join(filter(None, (total["label"], total["definition"])))
        said = said[:1].upper() + said[1:].rstrip(".")
        lines.append(f"| `{total['name']}` | {total['unit']} | {better} | {of_groups} | {said} |")
    return "\n".join(lines) + "\n"


def regenerate(page: str) -> str:
    """The page with the table as it is declared now."""
    return marked("totals", page, totals())


def environments() -> str:
    """The page about environments."""
    parts = [_HEAD]
    for row in registry()["environments"]:
        parts.append(f"## {row['key']}\n\n{row['summary']}\n\n{row['manual']}\n")
        for part in ("stack", "switch"):
            if row[part]:
                lines = [f"| `{each['path']}` | `{each['value']}` | {each['source']} |" for each in row[part]]
                parts.append("\n".join([f"| {part} | default | source |", "|---|---|---|", *lines]) + "\n")
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
    ENVIRONMENTS.write_text(environments(), encoding="utf-8")
    README.write_text(marked("schemes", README.read_text(encoding="utf-8"), schemes()), encoding="utf-8")
    PAGE.write_text(regenerate(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
