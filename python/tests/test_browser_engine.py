"""The engine for browsers gives the same results as the one on the command line, for every scheme."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fanin import _engine
from fanin._engine import Scenario
from fanin.registry import registry

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "web/public/fanin.wasm"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
    pytest.mark.skipif(not MODULE.exists(), reason="the engine for browsers is not built: make page"),
]

SCENARIO = """
[network]
topology = "two-switch"
rate = "1Gbps"
buffer = "60KB"

[transport]
scheme = "{scheme}"
rto-min = "5ms"

[[traffic]]
name = "servers"
kind = "incast"
senders = 24
bytes-each = "40KB"
rounds = 3
jitter = "30us"

[[traffic]]
name = "background"
kind = "poisson"
bytes-each = "web-search"
load = "20%"
count = 20

[measure]
queues = "all"
queue-trace = "on-change"
crossings = "all"
probes = "cwnd,srtt"

[run]
duration = "300ms"
seed = 3
"""


def ask(requests: list[dict[str, object]]) -> list[dict[str, object]]:
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    command = ["node", str(ROOT / "crates/wasm/answer.mjs"), str(MODULE)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module", autouse=True)
def same_version() -> None:
    (found,) = ask([{"op": "version"}])
    if found["value"] != _engine.version():
        pytest.fail(f"the engine for browsers is {found['value']}, that of Python {_engine.version()}: make page")


def test_every_scheme_has_the_same_hash() -> None:
    schemes = [scheme["key"] for scheme in registry()["schemes"]]
    texts = [SCENARIO.format(scheme=scheme) for scheme in schemes]
    answers = ask([{"op": "run", "scenario": {"toml": text, "name": "a.toml"}} for text in texts])
    assert len(answers) == len(schemes) >= 14
    native = [json.loads(Scenario(text, "a.toml").run().summary) for text in texts]
    # A network in which nothing happens would prove little.
    assert sum(run["drops"] + run["marks"] > 0 for run in native) > len(schemes) / 2
    for scheme, run, answer in zip(schemes, native, answers, strict=True):
        assert answer["value"]["summary"]["result_hash"] == run["result_hash"], scheme


def test_it_says_of_a_scenario_what_python_says() -> None:
    scenario = {"toml": SCENARIO.format(scheme="dctcp"), "name": "a.toml", "overrides": [["run.seed", "4"]]}
    asked = Scenario(scenario["toml"], "a.toml", [("run.seed", "4")])
    told = {
        "registry": json.loads(_engine.registry()),
        "schema": json.loads(_engine.schema()),
        "check": asked.check(),
        "loads": asked.loads(),
        "resolved": asked.resolved(),
    }
    answers = ask([{"op": op, "scenario": scenario} for op in told])
    for (op, value), answer in zip(told.items(), answers, strict=True):
        assert answer["value"] == value, op
    ((nodes, links),) = (each["value"].values() for each in ask([{"op": "topology", "scenario": scenario}]))
    # There, ends are places among the nodes.
    named = [{**link, **{end: nodes[link[end]]["name"] for end in ("from", "to")}} for link in links]
    assert asked.network() == {"nodes": nodes, "links": named}
