"""Names of what a results folder holds."""

from __future__ import annotations

RUNS = "runs"
"""Folder of the runs: each has one of its own, named by its id."""

MANIFEST = "manifest.json"
"""What a run was, in its folder."""

CLAIMS = "claims.json"
"""The judgements on an experiment's claims, in the experiment's folder."""
