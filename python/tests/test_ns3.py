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

OUT = {
    "ties/20 timeouts",
    "star-pfdct/10 queue_mean_packets",
    "star-pfdct/10 marks",
    "star-pfdct-device/20 fct_p99_ms",
    "star-each-ack-device/50 timeouts",
    "star-pfdct-3.36/10 queue_mean_packets",
    "star-pfdct-3.36/30 goodput_mbps",
    "star-pfdct-3.36/30 queue_mean_packets",
    "star-pfdct-3.36/30 marks",
}
"""Beyond the tolerance; the comparison lists each with the reason."""


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
    perhaps = called(rows, "perhaps")
    stars = {
        each for each in perhaps if each.startswith("star-")
    }  # ten seeds of runs that are quick or a series of timeouts
    assert perhaps - stars == PERHAPS
    page = PAGE.read_text()
    assert done.stdout.strip() in page, "make validate writes the table into the page"
    prose = page.split("## Results")[0]
    for each in perhaps | OUT:
        cell = each.split(" ")[0]
        assert f"`{cell}`" in prose, f"the page does not say what is known of {each}"


def test_each_point_of_pfdct_s_star_stands_as_printed_in_ns3_and_here() -> None:
    page = PAGE.read_text()
    points = re.findall(r"^\| (DCTCP|PFDCT)[^|]*device queue of 1(?:00)? \|(.*)\|$", page, re.MULTILINE)
    cells = [[cell.strip() for cell in rest.split("|")] for _, rest in points]
    assert len(cells) == 26
    assert all(row[0] and row[2] and row[3] and row[5] and row[6] for row in cells), "ns-3 and fanin, both measures"
    assert {row[1] for row in cells if row[0] == "30"} == {"3.243", "3.185"}, "Table 2"
    assert {row[4] for row in cells} == {"", "32.35"}


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
