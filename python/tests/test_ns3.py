"""Fanin against ns-3, from ns-3's stored results: no ns-3 is needed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPARE = ROOT / "validation" / "ns3" / "compare.py"
PAGE = ROOT / "docs" / "validation" / "ns3.md"


PERHAPS: set[str] = set()
"""Beyond the tolerance with a part of the interval inside it; the page says what is known of each."""

OUT = {"ties/20 timeouts"}
"""Beyond the tolerance, where one run is compared with one; the comparison lists it with the reason."""


def called(rows: list[str], verdict: str) -> set[str]:
    """Cell and measure of the rows with a verdict."""
    found = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {f"{row[0]} {row[1]}" for row in found if row[-1] == verdict}


def compare(*options: str) -> subprocess.CompletedProcess[str]:
    """The comparison, as a program of its own: its licence is another."""
    fanin = shlex.join([sys.executable, "-m", "fanin"])
    command = [sys.executable, str(COMPARE), "--fanin", fanin, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_cells_that_agree_with_ns3_are_all_but_the_named_ones_and_the_page_shows_it() -> None:
    done = compare()
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if re.match(r"\| [a-z]", line)]
    assert len(rows) > 100, "every cell has several measures"
    assert called(rows, "OUT") == OUT
    assert called(rows, "perhaps") == PERHAPS
    page = PAGE.read_text()
    assert done.stdout.strip() in page, "make validate writes the table into the page"
    prose = page.split("## Results")[0]
    for each in PERHAPS | OUT:
        cell = each.split(" ")[0]
        assert f"`{cell}`" in prose, f"the page does not say what is known of {each}"


def test_the_comparison_fails_where_a_tolerance_is_broken(tmp_path: Path) -> None:
    stored = (COMPARE.parent / "reference.csv").read_text().splitlines()
    goodput = stored[0].split(",").index("goodput_mbps")
    wrong = [stored[0]]
    for line in stored[1:]:
        cells = line.split(",")
        cells[goodput] = str(float(cells[goodput]) * 0.5)
        wrong.append(",".join(cells))
    candidate = tmp_path / "wrong.csv"
    candidate.write_text("\n".join(wrong) + "\n")
    done = compare("--only", "newreno/10", "--candidate", str(candidate))
    assert done.returncode == 1 and "| OUT |" in done.stdout
    same = compare("--only", "newreno/10", "--candidate", str(COMPARE.parent / "reference.csv"))
    assert same.returncode == 0, same.stdout + same.stderr
