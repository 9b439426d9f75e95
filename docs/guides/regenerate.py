"""Runs the commands of a guide and puts what they print, and what they draw, into it: nothing in it is typed.

A guide is Markdown. A ``toml`` block whose first line is ``# NAME.toml`` is a file. The commands of a ``console`` block
are its lines that begin with ``$ ``, and each has its output below it. ``<!-- from PATTERN -->`` above a picture says
which file it is a copy of. All of it happens in a new folder, in the order of the guide.

    python docs/guides/regenerate.py docs/guides/choose-a-fix.md
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(toml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^<!-- from (\S+) -->\n!\[[^\]]*\]\(([^)]+)\)$", re.MULTILINE)


def regenerate(guide: Path) -> str:
    """The guide with new outputs; its pictures are copied beside it."""
    text = guide.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        text = BLOCK.sub(lambda block: _block(block, work), text)
        for pattern, target in PICTURE.findall(text):
            (found,) = work.glob(pattern)
            (guide.parent / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, guide.parent / target)
    return text


def _block(block: re.Match[str], work: Path) -> str:
    kind, content = block.groups()
    if kind == "toml":
        if name := re.match(r"# (\S+\.toml)\n", content):
            (work / name.group(1)).write_text(content, encoding="utf-8")
        return block.group(0)
    outputs = [f"$ {command}\n{_run(command, work)}" for command in commands(content)]
    return f"```console\n{''.join(outputs)}```"


def commands(content: str) -> list[str]:
    """The commands of a console block; a line that ends with a backslash goes on in the next."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)$", content, re.MULTILINE)


def _run(command: str, work: Path) -> str:
    """What a command prints, without the progress."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command,
        shell=True,
        cwd=work,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if line.startswith(("warning:", "error:"))]
    if done.returncode:
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in [*_aligned(done.stdout.splitlines()), *said])


def _aligned(lines: list[str]) -> list[str]:
    """Cells that tabs separate, below one another."""
    shown: list[str] = []
    table: list[list[str]] = []
    for line in [*lines, ""]:
        if "\t" in line:
            table.append(line.split("\t"))
            continue
        if table:
            columns = max(map(len, table))
            rows = [[*row, *[""] * (columns - len(row))] for row in table]
            widths = [max(len(row[index]) for row in rows) for index in range(columns)]
            shown += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
            table = []
        shown.append(line)
    return shown[:-1]


def main() -> None:
    """Rewrites the guides that are named."""
    for name in sys.argv[1:]:
        guide = Path(name)
        guide.write_text(regenerate(guide), encoding="utf-8")


if __name__ == "__main__":
    main()
