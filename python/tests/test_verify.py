"""``fanin verify``: no flipped bit of a run goes unnoticed, and the command that made it makes it again."""

import json
import random
from pathlib import Path

import pytest
from patches import stored

SWEEP = ("sweep", "small.toml", "--set", "run.duration=20ms", "--seeds", "1..2", "--columns", "goodput_bps")


@pytest.mark.parametrize("kept", [(), ("--tables", "flows")])
def test_a_flipped_bit_is_named_and_the_same_command_mends_it(cli, work, kept):
    command = (*SWEEP, *kept)
    assert cli(*command).code == 0
    whole, random_ = stored(), random.Random(3)
    assert json.loads(cli("verify", "--json").out) == {"folder": "results", "runs": len(whole), "damaged": []}
    path = random_.choice(sorted(path for path in Path("results/runs").rglob("*") if path.is_file()))
    content = bytearray(path.read_bytes())
    content[random_.randrange(len(content))] ^= 1
    path.write_bytes(content)
    result = cli("verify")
    assert (result.code, f"error: {path}: damaged" in result.err, "1 damaged" in result.out) == (1, True, True)
    assert cli(*command).code == 0
    assert cli("verify").out == f"{len(whole)} runs are whole, 0 damaged\n"


def test_a_folder_without_runs_is_not_whole(cli, tmp_path):
    result = cli("verify", str(tmp_path))
    assert (result.code, "no run is stored here" in result.err) == (3, True)
