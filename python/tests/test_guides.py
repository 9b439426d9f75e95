"""The guides: their scenarios are valid, their commands are ours, and their outputs are written by a script."""

import importlib.util
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from test_examples import parse, paste

import fanin
from fanin.cli.commands import COMMANDS

FOLDER = Path(__file__).parents[2] / "docs" / "guides"
FIRST_SCHEME = FOLDER.with_name("tutorials") / "first-scheme.md"
TUTORIALS = sorted(set(FOLDER.with_name("tutorials").glob("*.md")) - {FIRST_SCHEME})
GUIDES = [*sorted(FOLDER.glob("*.md")), *TUTORIALS]

pytestmark = pytest.mark.skipif(not GUIDES, reason="an installed package has no guides")


def script():
    spec = importlib.util.spec_from_file_location("regenerate", FOLDER / "regenerate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(guide: Path, kind: str) -> list[str]:
    return [content for found, content in script().BLOCK.findall(guide.read_text()) if found == kind]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_scenarios_and_commands_are_valid(guide, tmp_path):
    for kind, content in script().BLOCK.findall(guide.read_text()):
        if kind == "toml":
            path = tmp_path / re.match(r"# (\S+)\n", content).group(1)
            path.write_text(content)
            fanin.Scenario(path).check()
            continue
        for command in script().commands(content):
            # The output may be cut by another program.
            ours = command.replace("\\\n", "").partition(" | ")[0]
            if not ours.startswith("fanin "):
                # It may write a file that the next scenario reads.
                subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=False)
                continue
            assert shlex.split(ours)[1] in COMMANDS
            parse(ours)
            # What it printed stands below it.
            after = content.split(f"$ {command}\n", 1)[1]
            assert after
            assert not after.startswith("$ "), command
    for _, target in script().PICTURE.findall(guide.read_text()):
        assert (guide.parent / target).is_file()


RUN = re.compile(r" \(run [0-9a-f]{16}\)")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_runs_of_tutorials_print_what_stands_below_them(page, tmp_path, monkeypatch, cli):
    """But for those in the kernel, and one with long flows, which takes long."""
    monkeypatch.chdir(tmp_path)
    for kind, content in script().BLOCK.findall(page.read_text()):
        if kind == "toml":
            Path(re.match(r"# (\S+)\n", content).group(1)).write_text(content)
            continue
        for part in re.split(r"(?m)^\$ ", content)[1:]:
            command, *lines = part.splitlines()
            if not command.startswith("fanin run ") or "--backend linux" in command or "busy.toml" in command:
                continue
            shown = [
                line.rstrip() for line in script()._aligned(paste(command.partition(" | ")[0], cli).out.splitlines())
            ]
            wanted = [line for line in lines if not line.startswith("warning: ")]
            assert wanted
            # The number of a run depends on the engine's sources.
            assert [RUN.sub("", line) for line in shown[: len(wanted)]] == [RUN.sub("", line) for line in wanted]


def test_choosing_a_fix_takes_three_commands_that_follow_one_another():
    guide = FOLDER / "choose-a-fix.md"
    found = [command for content in blocks(guide, "console") for command in script().commands(content)]
    verbs = [command.split()[1] for command in found if command.startswith("fanin ")]
    assert verbs == ["compare", "tune", "capacity"]
    assert re.search(r"^\[scheme\.linux-dctcp\]\nmark-threshold = \"\d+pkt\"$", guide.read_text(), re.MULTILINE)


def test_outputs_are_written_anew(tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text(
        "Text.\n\n```toml\n# a.toml\n[x]\n```\n\n"
        "```console\n$ cat \\\n  a.toml\nwhat it was\n$ printf 'a\\tb\\nlong\\tc\\n'\n```\n"
        "\n<!-- from *.toml -->\n![A copy](copies/a.toml)\n"
    )
    found = script().regenerate(guide)
    assert "$ cat \\\n  a.toml\n# a.toml\n[x]\n$ printf 'a\\tb\\nlong\\tc\\n'\na     b\nlong  c\n```\n" in found
    assert "what it was" not in found
    assert (tmp_path / "copies" / "a.toml").read_text() == "# a.toml\n[x]\n"
