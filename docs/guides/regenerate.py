"""Runs the commands of a guide and puts what they print, and what they draw, into it: nothing in it is typed.

A guide is Markdown. A ``toml`` block whose first line is ``# NAME.toml`` is a file. The commands of a ``console`` block
are its lines that begin with ``$ ``, and each has its output below it. ``<!-- from PATTERN -->`` above a picture says
which file it is a copy of. All of it happens in a new folder, in the order of the guide.

A guide that has a scheme of its own gets an engine with it: its ``rust`` block is the scheme, its ``markdown`` block
the manual, and the added lines of its ``diff`` block each stand before the line that they stand before there.

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
PICTURE = re.compile(r"^<!-- from (\S+) -->\n!\[[^\]]*\]\(([^)]+)\)$", re.MULTILINE)


def regenerate(guide: Path) -> str:
    """The guide with new outputs; its pictures are copied beside it."""
    text = guide.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
        work = Path(folder)
        environment = dict(os.environ)
        first = Path(sys.executable).parent
        if "```rust\n" in text:
            environment["PYTHONPATH"] = str(package_with_scheme(guide, Path(programs)))
            first = Path(programs)
            (first / "fanin").write_text(f'#!/bin/sh\nexec {sys.executable} -m fanin "$@"\n')
            (first / "fanin").chmod(0o755)
        environment["PATH"] = os.pathsep.join([str(first), os.environ.get("PATH", "")])
        text = BLOCK.sub(lambda block: _block(block, work, environment), text)
        for pattern, target in PICTURE.findall(text):
            (found,) = work.glob(pattern)
            (guide.parent / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, guide.parent / target)
    return text


def package_with_scheme(guide: Path, to: Path) -> Path:
    """A package in this folder whose engine has the scheme of a guide; returns where Python finds it."""
    source = ROOT / "target/new-scheme/source"
    _add_scheme(guide, source)
    command = ["cargo", "build", "--quiet", "--locked", "--package", "fanin-extension", "--profile", "quick"]
    target = source.parent
    done = subprocess.run([*command, "--target-dir", str(target)], cwd=source, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    (engine,) = (path for name in ("lib_engine.so", "lib_engine.dylib") for path in (target / "quick").glob(name))
    left_out = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "page")
    shutil.copytree(ROOT / "python/fanin", to / "python/fanin", ignore=left_out)
    shutil.copy2(engine, to / "python/fanin/_engine.abi3.so")
    return to / "python"


def _add_scheme(guide: Path, workspace: Path) -> None:
    """A copy of the engine's source with the scheme of a guide. Each file has the time of what it is made of, by which
    cargo sees what to build."""
    shutil.rmtree(workspace, ignore_errors=True)
    shutil.copytree(ROOT / "crates", workspace / "crates")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy2(ROOT / name, workspace / name)
    page = guide.read_text(encoding="utf-8")
    code, manual, change = (
        re.search(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL).group(1)
        for kind in ("rust", "markdown", "diff")
    )
    (name,) = re.findall(r"^\+mod (\w+);$", change, re.MULTILINE)
    schemes = workspace / "crates/schemes/src"
    registry = schemes / "lib.rs"
    text = registry.read_text(encoding="utf-8")
    for line, before in re.findall(r"^\+(.*)\n (.*\n)", change, re.MULTILINE):
        if text.count(f"\n{before}") != 1:
            raise SystemExit(f"{registry} has not one line {before}")
        text = text.replace(f"\n{before}", f"\n{line}\n{before}")
    made = max(path.stat().st_mtime_ns for path in (guide, registry, Path(__file__)))
    (schemes / name).mkdir()
    files = {registry: text, schemes / name / "mod.rs": code, schemes / name / "manual.md": manual}
    for path, content in files.items():
        path.write_text(content, encoding="utf-8")
        os.utime(path, ns=(made, made))


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
    done = subprocess.run(
        command, shell=True, cwd=work, env=environment, capture_output=True, text=True, check=False
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
