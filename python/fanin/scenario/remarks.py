"""Warnings about a scenario or its runs that a user should read before trusting the numbers."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from fanin.numbers.summary import format_number, format_value
from fanin.numbers.units import FRAME_BYTES, number
from fanin.registry import reacts_to_marks, scheme_row, scheme_title
from fanin.scenario.engine_rows import Preview, ValueRow, set_by
from fanin.scenario.format.plot import Plot
from fanin.scenario.format.sweep import Variant
from fanin.scenario.settings import Settings
from fanin.scenario.thresholds import never_marks
from fanin.scenario.traffic import as_run, fan_in_keys, has_requests, is_endless, loads_together, waits

Unused = tuple[str, tuple[str, str] | None]
"""A value without effect, and the key and choice that make it ineffective; ``None`` for an unused scheme."""


_MAX_NAMED_POINTS = 3
"""So many points of a sweep are named."""

_MAX_RATE_BPS = 800e9
"""The fastest port of Ethernet (IEEE 802.3df)."""

_TABLES_OF_ALL_SYSTEMS = ("network.", "transport.", "queue.", "traffic.")
"""Tables whose keys affect every system of a figure."""


def of_totals(summary: dict[str, Any], resolved: dict[str, Any]) -> list[str]:
    """Remarks on what limits how far the totals of a run can be trusted."""
    found = [incomplete([summary]), lossy(summary), unsteady([summary], resolved), *without_effect(summary, resolved)]
    return [remark for remark in found if remark]


def lossy(summary: dict[str, Any]) -> str | None:
    """A remark on switches with flow control that lost packets all the same."""
    lost = summary.get("drops_headroom_full", 0)
    if not lost:
        return None
    return f"{lost:,} packets did not fit the headroom of a lossless port; leave network.pfc-headroom out"


def moved(observed: str, found: str) -> str:
    """A remark on a run whose queue is that of the port that turned out to be the bottleneck."""
    return f"the bottleneck is {found}, not {observed}, so the queue is that of {found} (measure.bottleneck)"


def without_effect(summary: dict[str, Any], resolved: dict[str, Any]) -> list[str]:
    """Remarks on what begins when the run is over, as it ends with its last transfer."""
    resolved = as_run(resolved, summary)
    begins = [(f"fault.{fault['name']}", fault["at"]) for fault in resolved["fault"]]
    begins += [(f"traffic.{group['name']}", group["start"]) for group in resolved["traffic"] if "start" in group]
    begins.append(("measure.warmup", resolved["measure"]["warmup"]))
    end = format_value("simulated_s", summary["simulated_s"])
    return [
        f"{what}: without effect, as the run was over at {end}, before {at}"
        for what, at in begins
        if at.number >= summary["simulated_s"]
    ]


def unsteady(summaries: Iterable[dict[str, Any]], resolved: dict[str, Any]) -> str | None:
    """A remark on traffic that began before the long flows beside it were steady.

    Args:
        summaries: The totals of runs.
        resolved: Their scenario with every default filled in.

    """
    every = list(summaries)
    other = [group for group in resolved["traffic"] if not is_endless(group) and "start" in group]
    waiting = ", ".join(f"traffic.{group['name']}" for group in other if waits(group))
    if waiting:
        late = sum(summary.get("steady_s") is None for summary in every)
        limit = f"run.steady-limit = {resolved['run']['steady-limit']}"
        return f"{waiting}: began in {late} of {len(every)} runs when {limit} was over" if late else None
    rising = max((summary.get("long_flows_rising") or 0 for summary in every), default=0)
    if not rising or not other:
        return None
    first = min(other, key=lambda group: group["start"].number)
    flows = f"{rising:,} long flow{'s' if rising > 1 else ''}"
    path = f"traffic.{first['name']}"
    return f"{path} began at {first['start']}, while {flows} still grew; --set {path}.start=steady waits for them"


def incomplete(summaries: Iterable[dict[str, Any]], varied: Collection[str] = ()) -> str | None:
    """A remark on the flows of runs that did not complete.

    Args:
        summaries: Their totals.
        varied: Keys beside these that tell points apart; those that miss most flows are named.

    """
    every = list(summaries)
    missing = [summary for summary in every if summary.get("incomplete")]
    if not missing:
        return None
    at: Counter[str] = Counter()
    for summary in missing:
        at[", ".join(f"{key} = {summary[key]}" for key in varied if key in summary)] += summary["incomplete"]
    total = at.total() + sum(summary["completed"] for summary in every)
    runs = f", in {len(missing)} of {len(every)} runs," if len(every) > 1 else ""
    points = "; ".join(f"{point} ({count:,})" for point, count in at.most_common(_MAX_NAMED_POINTS))
    more = f"; {len(at) - _MAX_NAMED_POINTS} more" if len(at) > _MAX_NAMED_POINTS else ""
    where = f", at {points}{more}" if varied else ""
    return (
        f"{at.total()} of {total} finite flows{runs} were not complete at the end of the run{where}; completion times "
        "leave them out"
    )


def unmeasured(ports: Collection[tuple[str, str | None]]) -> str | None:
    """A remark on queues that were measured at other ports than those that turned out to be the bottlenecks.

    Args:
        ports: Of each run, the observed port and the one that turned out to be the bottleneck, if one did.

    """
    apart = Counter(pair for pair in ports if pair[1] not in (None, pair[0]))
    if not apart:
        return None
    observed, found = max(apart, key=apart.__getitem__)
    return (
        f"in {apart.total()} of {len(ports)} runs the bottleneck is {found}, but the queue is that of {observed}; "
        f"--set measure.bottleneck={shlex.quote(str(found))} measures the bottleneck"
    )


def changed(settings: Settings) -> list[str]:
    """A remark on an experiment that was run with values that differ from its file."""
    if not settings:
        return []
    said = ", ".join(f"{path} = {value}" for path, value in settings)
    return [f"run with {said}, which its file does not have: these verdicts are not those on the paper"]


def undrawn(plot: Plot, *, has_rows: bool) -> str:
    """A remark on a plot that has nothing to show: there is no row for it, or there are no values in the rows."""
    # Transfers are drawn from their start on.
    values = " and ".join(dict.fromkeys(filter(None, [plot.x, plot.drawn or "flows.start_s"])))
    values += f" relative to {plot.relative_to}" if plot.relative_to else ""
    why = f"none of its rows has finite values of {values}" if has_rows else "the runs have no rows for it"
    return f"plot {plot.name}: {why}"


def unshown(axis: str, labels: Iterable[tuple[str, bool]]) -> str:
    """A remark on variants of an axis that no plot of the file shows; each with whether a claim reads it."""
    said = [f'"{label}"' + ("" if judged else " (nor does a claim read it)") for label, judged in labels]
    return f"variant.{axis}: no plot of this file shows {', '.join(said)}"


def unmarked(resolved: dict[str, Any]) -> str | None:
    """A remark on schemes that rely on marks although no queue marks."""
    queue, ecn = resolved["queue"], resolved["transport"]["ecn"]
    # A scenario that counts would-be marks uses drop-tail deliberately.
    scheme = resolved["transport"]["scheme"]
    is_plain = queue["kind"] == "auto" and not reacts_to_marks(scheme)
    if not (never_marks(queue) or is_plain) or not queue.get("would-mark", "0").startswith("0") or ecn == "off":
        return None
    used = {group["scheme"] for group in resolved["traffic"]}
    schemes = sorted(scheme for scheme in used if ecn == "on" or reacts_to_marks(scheme))
    if not schemes:
        return None
    choice, fix = f'queue.kind = "{queue["kind"]}"', "leave queue.kind out"
    if is_plain:
        choice = f'the queue of transport.scheme = "{scheme}" (queue.kind = "auto")'
        fix = "set queue.kind and queue.threshold"
    elif "threshold" in queue:
        choice, fix = f"{choice} without queue.threshold", f"{fix}, or set queue.threshold"
    return f"{', '.join(schemes)} relies on marks, but {choice} never marks; {fix}"


def unasked(resolved: dict[str, Any]) -> list[str]:
    """Remarks on time to think about requests that nobody sends."""
    return [
        f"traffic.{group['name']}.{key} = {group[key]}: without effect, as nothing is asked for; set "
        f'traffic.{group["name"]}.request, such as "100B"'
        for group in resolved["traffic"]
        for key in ("think", "think-jitter")
        if number(group.get(key, 0)) and not has_requests(group)
    ]


def uncounted(resolved: dict[str, Any]) -> list[str]:
    """Remarks on numbers of hosts by part beside a selection of hosts, which alone decides."""
    found = []
    for group in resolved["traffic"]:
        for end, key in (("from", "senders"), ("to", "receivers")):
            # Of a fan-in, it is how many respond.
            if key == fan_in_keys().get(group["kind"]) or int(group.get(key, 1)) == 1 or group[end] == "by-part":
                continue
            why = f'traffic.{group["name"]}.{key} = {group[key]}: without effect with {end} = "{group[end]}"'
            hosts = "network.sender-hosts"
            then = f", and set {hosts} to the number of hosts" if "sender-hosts" in resolved["network"] else ""
            found.append(f"{why}; leave it out{then}")
    return found


def impossible(rows: Iterable[ValueRow]) -> list[str]:
    """Remarks on defaults of rates that no port has.

    Args:
        rows: Every value of the scenario, as :meth:`ScenarioFile.resolved_table` has it.

    """
    return [
        f"set {row['path']} to the rate of your ports: the default, {row['value']} ({set_by(row)}), is more than the "
        f"{_MAX_RATE_BPS / 1e9:g} Gbit/s of the fastest port of Ethernet (IEEE 802.3df)"
        for row in rows
        if row["is_default"] and row["path"].startswith("network.") and row["path"].endswith("rate")
        if (row["number"] or 0.0) > _MAX_RATE_BPS
    ]


def overloaded(offered: list[dict[str, Any]], resolved: dict[str, Any]) -> list[str]:
    """Remarks on traffic at a load above the capacity: its queues grow during the whole run."""
    found = []
    for groups, load_of, load in loads_together(offered, resolved["traffic"]):
        if load > 1:
            names = ", ".join(f"traffic.{group}" for group in groups)
            verb, whose = ("offers", "its") if len(groups) == 1 else ("offer", "their")
            found.append(f"{names}: {verb} {100 * load:.0f} % of what {whose} {load_of} can carry")
    return found


def endless(resolved: dict[str, Any], preview: Preview) -> list[str]:
    """Remarks on traffic that cannot complete before the run ends, however fast the network is.

    Args:
        resolved: The scenario with every default filled in.
        preview: The engine's preview of it.

    """
    rate, duration = resolved["network"]["rate"].number, resolved["run"]["duration"].number
    found = []
    for group, seen in zip(resolved["traffic"], preview["groups"], strict=True):
        # Others have several receivers: all hosts, at most.
        receivers = 1 if group["kind"] == "incast" else preview["hosts"]
        least = 8 * seen["flows"] * seen["mean_bytes"] / (rate * receivers)
        if least > duration and seen["offered"] is None:
            hops = 2 * receivers * rate * duration / 8 / FRAME_BYTES
            found.append(
                f"traffic.{seen['name']}: needs {format_number(least)} s or more of the receivers' links, so it cannot "
                f"complete in run.duration = {resolved['run']['duration']} (up to {format_number(hops / 1e6)} million "
                "packet-hops to simulate)"
            )
    return found


def not_linuxs_own(rows: Iterable[ValueRow]) -> str | None:
    """A remark on Linux hosts whose congestion control nobody chose: it is not the one that they have themselves.

    Args:
        rows: Every value of the scenario, as :meth:`ScenarioFile.resolved_table` has it.

    """
    values = {row["path"]: row for row in rows if row["scheme"] is None}
    stack, scheme = values.get("transport.stack"), values.get("transport.scheme")
    if stack is None or scheme is None or stack["value"] != "linux-6.12" or not scheme["is_default"]:
        return None
    groups = [row for path, row in values.items() if path.startswith("traffic.") and path.endswith(".scheme")]
    if not any(row["is_default"] for row in groups):
        return None
    return (
        f"transport.scheme is {scheme_title(scheme['value'])} (the default) on hosts that run Linux; their own is "
        f'{scheme_title("linux")}: transport.scheme = "linux"'
    )


def overruled(rows: Iterable[ValueRow]) -> list[str]:
    """Remarks on what a scheme prefers of its hosts, but their stack does otherwise.

    Args:
        rows: Every value of the scenario, as :meth:`ScenarioFile.resolved_table` has it.

    """
    values = {(row["path"], row["scheme"]): row for row in rows}
    groups = [
        row["value"] for (path, _), row in values.items() if path.startswith("traffic.") and path.endswith(".scheme")
    ]
    found = []
    for scheme in dict.fromkeys([values["transport.scheme", None]["value"], *groups]):
        for key, preferred in scheme_row(scheme)["prefers"].items():
            path = f"transport.{key}"
            # Schemes of a scenario that differ in it have a row each.
            row = values.get((path, scheme)) or values[path, None]
            if row["is_default"] and row["value"] != preferred:
                found.append(
                    f"{path} is {row['value']} ({set_by(row)}), but {scheme_title(scheme)} prefers {preferred}; "
                    f"set {path} to one of them"
                )
    return found


def unused(values: list[Unused]) -> list[str]:
    """Remarks on values without effect, one for each reason."""
    reasons: dict[tuple[str, str] | None, list[str]] = {}
    for path, beside in values:
        reasons.setdefault(beside, []).append(path)
    found = []
    for beside, paths in reasons.items():
        if beside is None:
            why = "no network or traffic group uses this scheme: the value has no effect"
        else:
            why = f'no effect with {beside[0]} = "{beside[1]}"; leave it out or change {beside[0]}'
        found.append(f"{', '.join(paths)}: {why}")
    return found


def unequal(variants: Iterable[Variant], swept: Collection[str] = ()) -> list[str]:
    """Remarks on keys that affect all systems but do not have the same value in all variants of an axis of systems.

    Lines with their own reason are left out, and so is traffic that the sweep varies: each system has its own values
    of it, because curves do not all extend equally far.

    Args:
        variants: Variants of all axes.
        swept: Variables of the sweep.

    """
    axes: dict[str, list[Variant]] = {}
    for variant in variants:
        axes.setdefault(variant.axis, []).append(variant)
    found = []
    for axis, lines in axes.items():
        if not any("transport.scheme" in line.set_ for line in lines):
            continue
        for path in dict.fromkeys(path for line in lines for path in line.set_ if _is_common(path, swept)):
            unexplained = [line.label for line in lines if path in line.set_ and not line.why]
            if unexplained and len({tuple(line.set_.get(path, ())) for line in lines}) > 1:
                found.append(
                    f"variant.{axis}: {path} concerns every system, but the variants give it different values "
                    f'(here: {"; ".join(unexplained)}); set it for all, or give these variants a reason: why = "..."'
                )
    return found


def _is_common(path: str, swept: Collection[str]) -> bool:
    """Whether a key should have one value for all systems: not what selects a system, of all traffic or of a group."""
    if path.startswith(("transport.", "traffic.")) and path.endswith(".scheme"):
        return False
    return path.startswith(_TABLES_OF_ALL_SYSTEMS) and not (path.startswith("traffic.") and path in swept)
