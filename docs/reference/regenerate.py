"""Writes the totals of a run, as the engine declares them, into the page about output.

python docs/reference/regenerate.py
"""

from __future__ import annotations

import re
from pathlib import Path

from fanin.registry import registry

PAGE = Path(__file__).parent / "output.md"
MARKED = re.compile(
    r"(?<=<!-- totals: written by docs/reference/regenerate.py -->\n\n).*?(?=\n<!-- end of totals -->)", re.DOTALL
)


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
    return MARKED.sub(lambda _: totals(), page)


if __name__ == "__main__":
    PAGE.write_text(regenerate(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
