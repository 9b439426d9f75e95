"""Fanin: a laboratory for TCP incast.

>>> import fanin
>>> experiment = fanin.load("sdtcp/fig9")
>>> run = experiment.run(seed=1)
>>> run.summary["goodput_bps"], run.flows()
>>> runs = fanin.sweep(experiment, jobs=2)
>>> runs.frame()
"""

from fanin import extension
from fanin._engine import version as engine_version
from fanin.errors import ClusterError, FaninError, NotFoundError, ResultsError, RunError, ScenarioError
from fanin.results.runs import Run
from fanin.run.experiment import Experiment, load
from fanin.run.sweep import Point, Runs, sweep

__version__ = extension.PACKAGE_VERSION

__all__ = [
    "ClusterError",
    "Experiment",
    "FaninError",
    "NotFoundError",
    "Point",
    "ResultsError",
    "Run",
    "RunError",
    "Runs",
    "ScenarioError",
    "__version__",
    "engine_version",
    "load",
    "sweep",
]
