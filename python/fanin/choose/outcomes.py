"""What a diagnosis and an advice come to: each outcome has a name that others may rely on, and is worded elsewhere."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What a run came to."""

    COLLAPSE = "collapse"  # Waits for timers left the link idle, or made queries beside other traffic slow.
    STALLS = "stalls"  # Delayed acknowledgements left the link idle.
    TIMEOUTS = "timeouts"  # Transfers waited for timers, but the link decided.
    HELD_UP = "held-up"  # A fault held transfers up for most of the time.
    CROWDED = "crowded"  # Queries waited for other traffic.
    LOSSES = "losses"  # Packets were lost, and repaired without a timer.
    FULL = "full"  # The link was busy.
    IDLE = "idle"  # Nothing was lost, and the link was not busy.
    CUT_SHORT = "cut-short"  # The run ended before any transfer did.


class Whom(StrEnum):
    """Which transfers waited for timers."""

    QUERIES = "most queries"  # At least half of the queries took longer mostly by that.
    MOST = "most transfers"  # At least half of all transfers.
    SLOWEST = "the slowest transfers"  # Fewer, but the slowest is one of them.
    OTHERS = "some transfers, not the slowest"  # Large transfers take long without any wait.
    ENDLESS = "some of the endless flows"  # All are endless.


class Verdict(StrEnum):
    """What an advice comes to."""

    TAKE = "take"  # A fix that can be deployed is better.
    KEEP = "keep"  # Nothing is better, and there is room for more senders, as far as that is known.
    KEEP_FOR_NOW = "keep-for-now"  # The same, but the bounds break with a few more senders.
    TOO_LITTLE = "too-little"  # Nothing is better, but the bounds do not hold.
    UNDECIDED = "undecided"  # Something may be better, and more seeds would tell.
    FEW_SEEDS = "few-seeds"  # One or two seeds tell nothing about differences.
    NOT_COMPARABLE = "not-comparable"  # Nothing finishes.
    PROVISIONAL = "provisional"  # Not all that was planned has run.
