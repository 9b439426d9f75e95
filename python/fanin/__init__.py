"""Fanin: a simulator of TCP incast.

Map of the package, from the lowest folder to the highest; a folder imports only from lower ones:

- `numbers/`: names and formats of totals, statistics over seeds, units, formulas
- `scenario/`: scenario and experiment files: format (`format/`), checks, points of a sweep, ids of runs
- `imports/`: readers of other programs' files
- `results/`: the store, result tables, declared columns, data sets
- `run/`: `Scenario`, sweeps, the pool of threads, Dask clusters, estimates of memory
- `claims/`: measures, outcomes of cases, verdicts on sentences, the records of experiments, the ledger
- `choose/`: goals, comparison and its warnings (`cautions.py`), ranking, `capacity/`, `tuning/`, `fit/`, comparison
  with other data (`reference.py`)
- `show/`: plots, pages, the HTML report, and the folders that commands write
- `ask/`: the questions that users ask of scenarios, in Python and by commands
- `env.py`: simulations as environments of gymnasium
- `cli/`: one module per command, and `tab_completion.py`

`experiments/` has the experiment files. Every folder uses `errors`, `command` (tells the command line from other
programs), `extension` (checks the compiled engine), `later` (late imports), `names` and `registry` (what the engine
declares). The engine is `crates/engine`.

>>> import fanin
>>> scenario = fanin.Scenario("tour/rack").set("traffic.reads.concurrent", 8)
>>> run = scenario.run(seed=1)
>>> run.summary["goodput_bps"], run.flows()
>>> runs = fanin.sweep(scenario.vary({"transport.scheme": ["newreno", "dctcp"]}), seeds=range(1, 6))
>>> runs.frame()
>>> fanin.compare(scenario, ["newreno", "dctcp"], goal="query-p99").frame()
"""

from __future__ import annotations

from fanin import command

# Imports take a tenth of a second, in which Ctrl-C would show where they are.
command.end_without_a_word()

import importlib  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

from fanin import extension  # noqa: E402
from fanin._engine import version as engine_version  # noqa: E402

if TYPE_CHECKING:
    from fanin._engine import (
        AckEvent,
        Arrival,
        ControllerCx,
        Delay,
        Flow,
        Node,
        Packet,
        Passage,
        Port,
        ReceiverCx,
        SenderCx,
        SwitchCx,
        Transfer,
    )
    from fanin.ask.advice import Recommendation, advise
    from fanin.ask.capacity import Capacities, capacity
    from fanin.ask.comparison import Comparison, compare
    from fanin.ask.fct import Slowdowns, fct
    from fanin.ask.picture import Picture, plot
    from fanin.ask.sweep import sweep
    from fanin.ask.tuning import Tuning, tune
    from fanin.errors import (
        ClusterError,
        FaninError,
        NotFoundError,
        ResultsError,
        RunError,
        ScenarioError,
        ScenarioWarning,
        SchemeError,
    )
    from fanin.results.frames import to_pandas
    from fanin.results.runs import Run
    from fanin.run.scenario import Scenario
    from fanin.run.steps import Observation, Simulation
    from fanin.run.sweep import Runs
    from fanin.scenario.own import (
        CongestionControl,
        Controller,
        SwitchAgent,
        Threshold,
        WindowControl,
        param,
        register,
        unregister,
    )
    from fanin.scenario.points import Point

__version__ = extension.PACKAGE_VERSION

__all__ = [
    "AckEvent",
    "Arrival",
    "Capacities",
    "ClusterError",
    "Comparison",
    "CongestionControl",
    "Controller",
    "ControllerCx",
    "Delay",
    "FaninError",
    "Flow",
    "Node",
    "NotFoundError",
    "Observation",
    "Packet",
    "Passage",
    "Picture",
    "Point",
    "Port",
    "ReceiverCx",
    "Recommendation",
    "ResultsError",
    "Run",
    "RunError",
    "Runs",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "SchemeError",
    "SenderCx",
    "Simulation",
    "Slowdowns",
    "SwitchAgent",
    "SwitchCx",
    "Threshold",
    "Transfer",
    "Tuning",
    "WindowControl",
    "__version__",
    "advise",
    "capacity",
    "compare",
    "engine_version",
    "fct",
    "param",
    "plot",
    "register",
    "sweep",
    "to_pandas",
    "tune",
    "unregister",
]

_MODULES = {
    "_engine": (
        *("SenderCx", "AckEvent", "Delay", "Transfer", "Flow", "ReceiverCx", "Arrival", "Node"),
        *("SwitchCx", "Packet", "Passage", "Port", "ControllerCx"),
    ),
    "ask.advice": ("Recommendation", "advise"),
    "ask.capacity": ("Capacities", "capacity"),
    "ask.comparison": ("Comparison", "compare"),
    "ask.fct": ("Slowdowns", "fct"),
    "ask.picture": ("Picture", "plot"),
    "ask.sweep": ("sweep",),
    "ask.tuning": ("Tuning", "tune"),
    "errors": (
        "ClusterError",
        "FaninError",
        "NotFoundError",
        "ResultsError",
        "RunError",
        "ScenarioError",
        "ScenarioWarning",
        "SchemeError",
    ),
    "results.frames": ("to_pandas",),
    "results.runs": ("Run",),
    "run.scenario": ("Scenario",),
    "run.steps": ("Observation", "Simulation"),
    "run.sweep": ("Runs",),
    "scenario.own": (
        *("CongestionControl", "WindowControl", "SwitchAgent", "Controller"),
        *("Threshold", "param", "register", "unregister"),
    ),
    "scenario.points": ("Point",),
}
"""Module -> its exported names; it is imported when one of them is first used."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    if name not in _HOMES:
        raise AttributeError(f"module 'fanin' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"fanin.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
