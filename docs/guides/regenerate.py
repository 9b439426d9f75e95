"""Runs the commands of a guide and puts what they print, and what they draw, into it: nothing in it is typed.

A guide is Markdown. A ``toml`` block whose first line is ``# NAME.toml`` is a file. The commands of a ``console`` block
are its lines that begin with ``$ ``, and each has its output below it. ``<!-- from PATTERN -->`` above a picture says
which file it is a copy of. All of it happens in a new folder, in the order of the guide.

``<!-- from FILE -->`` above a block says which file of the repository it is a copy of. A guide that has ``sh`` blocks
builds an engine with a scheme of its own: they are done first, in the checkout, and give ``FANIN_ENGINE``.

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

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(toml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COPY = re.compile(r"^(<!-- from (\S+) -->\n```\w+\n).*?^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^<!-- from (\S+) -->\n!\[[^\]]*\]\(([^)]+)\)$", re.MULTILINE)


def regenerate(guide: Path) -> str:
    """The guide with new outputs; its pictures are copied beside it."""
    text = guide.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        work = Path(folder)
        text = COPY.sub(lambda block: f"{block[1]}{(ROOT / block[2]).read_text(encoding='utf-8')}```", text)
        environment = dict(os.environ)
        if SHELL.search(text):
            environment["FANIN_ENGINE"] = own_engine(text, Path(home))
        environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        text = BLOCK.sub(lambda block: _block(block, work, environment), text)
        for pattern, target in PICTURE.findall(text):
            (found,) = work.glob(pattern)
            (guide.parent / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, guide.parent / target)
    return text


def own_engine(text: str, home: Path) -> str:
    """Does what the ``sh`` blocks of a guide say, with a folder as its reader's home; returns ``FANIN_ENGINE``.

    What they compile is kept for the next time.
    """
    target = ROOT / "target/own-scheme"
    lines = "".join(SHELL.findall(text)).replace("~/gentle/target", str(target)).replace("~", str(home))
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    command = ["bash", "-ec", f"{lines}printenv FANIN_ENGINE"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}")
    return done.stdout.splitlines()[-1]


def _block(block: re.Match[str], work: Path, environment: dict[str, str]) -> str:
    kind, content = block.groups()
    if kind == "toml":
        if name := re.match(r"# (\S+\.toml)\n", content):
            (work / name.group(1)).write_text(content, encoding="utf-8")
        return block.group(0)
    outputs = [f"$ {command}\n{_run(command, work, environment)}" for command in commands(content)]
    return f"```console\n{''.join(outputs)}```"


def commands(content: str) -> list[str]:
    """The commands of a console block; a line that ends with a backslash goes on in the next."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)$", content, re.MULTILINE)


def _run(command: str, work: Path, environment: dict[str, str]) -> str:
    """What a command prints, without the progress."""
    done = subprocess.run(command, shell=True, cwd=work, env=environment, capture_output=True, text=True, check=False)
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
