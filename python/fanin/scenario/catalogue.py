"""Everything that a scenario can name, and the meaning of each parameter."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from fanin import _engine
from fanin.errors import NotFoundError, ScenarioError
from fanin.registry import registry, scheme_rows
from fanin.scenario import library, not_modelled

KINDS = {
    "schemes": "scheme",
    "topologies": "topology",
    "queues": "queue",
    "traffic": "traffic",
    "faults": "fault",
    "workloads": "workload",
    "environments": "environment",
}
"""Plural (a registry) -> singular (one of its rows)."""

_SECTION_OF = {"topologies": "network", "queues": "queue", "traffic": "traffic", "faults": "fault"}


def _manual(workload: dict[str, Any]) -> str:
    """Source, mean and points of a workload, in Markdown."""
    points = "\n".join(f"| {size:,} | {share:g} |" for size, share in workload["points"])
    return (
        f"{workload['citation']}.\n\n{workload['source']}\n\nHow near the points are: {workload['precision']}.\n\n"
        f"Mean: {workload['mean_bytes']:,.1f} B, for {workload['stated_mean_bytes']:,g} B by {workload['mean_from']}. "
        f"Its {len(workload['points'])} points are joined by straight lines.\n\n"
        f"| bytes | % of flows up to it |\n|---|---|\n{points}"
    )


def entries(kind: str) -> list[dict[str, str]]:
    """Key and summary of everything of a kind: one of ``KINDS`` or ``experiments``."""
    if kind == "experiments":
        return [{"key": key, "summary": library.title(path)} for key, path in library.experiments().items()]
    return [{"key": row["key"], "summary": row["summary"]} for row in registry()[kind]]


def refuse_unknown_scheme(name: str, option: str) -> None:
    """Refuses a name that is no scheme's, also if it is the title or the algorithm of one.

    Raises:
        ScenarioError: naming the scheme that was probably meant.

    """
    known = {row["key"]: row["summary"] for row in scheme_rows()}
    if name in known:
        return
    if (said := not_modelled.name_other_tool(name)) is not None:
        raise ScenarioError(option, None, "", said)

    def folded(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", text.lower())

    def words(text: str) -> list[str]:
        return [folded(word) for word in text.split()]

    alike = [key for key in known if folded(key) == folded(name)]
    # TCP is first of all NewReno, whose title has the word; CUBIC is in the text on Linux.
    alike += [key for key, summary in known.items() if folded(name) in words(summary.partition(":")[0])]
    alike += [key for key, summary in known.items() if folded(name) in words(summary)]
    alike += difflib.get_close_matches(name.lower(), known, n=1)
    message = f"there is no scheme {name!r}; there are {', '.join(known)}"
    raise ScenarioError(option, None, "", message, next(iter(alike), None))


def explain(key: str) -> dict[str, Any]:
    """The explanation of a name or a parameter path.

    Returns:
        ``{kind, key, summary, manual, params}`` for a scheme, topology, queue, traffic pattern, fault or experiment; an
        environment has ``{short, stack, switch}`` as well, its short name and lists of ``{path, value, source}``;
        ``{kind, key, params}`` for a section of the scenario file, and ``{kind: "parameter", key, ...}`` for one
        parameter, or ``{kind: "name", ...}`` with all parameters whose paths end so, and with each topology or queue
        that has one in its own way, which ``of`` names. Each parameter has ``key takes default doc source reading``.
        The id of a reading gives
        ``{kind: "reading", key, readings, params}``: its text for each scheme, and every parameter that selects it.

    Raises:
        NotFoundError: naming the nearest name.

    """
    if not key.strip():
        raise NotFoundError("an empty name: fanin list and fanin explain --help have what can be explained")
    for plural, singular in KINDS.items():
        for row in registry()[plural]:
            if key in (row["key"], row.get("short")):
                shown = {"manual": _manual(row), "params": []} if singular == "workload" else {}
                return {"kind": singular, **row, **shown}
    for section, params in registry()["sections"].items():
        if section == key:
            return {"kind": "section", "key": section, "params": params}
    every = parameters()
    if key in every:
        return _parameters_of(key, [key], every)
    if key in library.experiments():
        from fanin.scenario.sections import parse, read_text

        document = parse(read_text(library.experiments()[key]), key)
        return {
            "kind": "experiment",
            "key": key,
            "summary": document.title,
            "manual": document.description.strip(),
            "params": [],
        }
    if (reading := _reading(key, every)) is not None:
        return reading
    if found := _of_groups(key, every) or [path for path in every if path.endswith(f".{key}")]:
        return _parameters_of(key, found, every)
    if (said := not_modelled.name_other_tool(key)) is not None:
        raise NotFoundError(said)
    names = [row["key"] for plural in KINDS for row in registry()[plural]]
    ends = [path.split(".", parts)[-1] for path in every for parts in range(path.count(".") + 1)]
    names += [*registry()["sections"], *ends, *library.experiments()]
    close = difflib.get_close_matches(key, dict.fromkeys(names), n=1, cutoff=_CLOSE)
    hint = _called_here(key) or _did_you_mean(close)
    kinds = "scheme, topology, queue, traffic pattern, fault, workload, environment, parameter or experiment"
    raise NotFoundError(f"{key}: no {kinds}{hint}")


_CLOSE = 0.75
"""How alike two names are of which one is probably a slip in writing the other, of at most 1."""


def _reading(key: str, parameters: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """Everything about a reading of a paper, by its id."""
    readings = [
        {"scheme": row["key"], **reading}
        for row in registry()["schemes"]
        for reading in row.get("readings", [])
        if reading["id"] == key
    ]
    named = {path for reading in readings for path in reading["params"]}
    params = [{**param, "key": path} for path, param in parameters.items() if param["reading"] == key or path in named]
    if not readings and not params:
        return None
    return {"kind": "reading", "key": key, "readings": readings, "params": params}


def names() -> list[str]:
    """Everything that :func:`explain` explains except experiments."""
    known = [row["key"] for plural in KINDS for row in registry()[plural]]
    ids = (reading["id"] for row in registry()["schemes"] for reading in row.get("readings", []))
    return list(dict.fromkeys([*known, *registry()["sections"], *parameters(), *ids]))


_ALL_REDUCE = (
    'each step of a ring all-reduce is traffic of kind "flows", a list of who sends what to whom. A parameter server '
    'is "incast", and a tree "relay-tree": see docs/guides/twelve-questions.md, question 12'
)

_SHUFFLE = (
    'this is traffic of kind "requests" with from = "all", to = "all" and a fan-in of one less than there are hosts. '
    "In each query a random host fetches from all others. For fetches at times of your own, list them with kind "
    '"flows"'
)

_CALLED_HERE = {
    **dict.fromkeys(("allreduce", "ring", "ringallreduce"), _ALL_REDUCE),
    **dict.fromkeys(("shuffle", "alltoall"), _SHUFFLE),
    **dict.fromkeys(("jumbo", "jumboframes"), 'set transport.mtu = "9000B": fanin explain mtu'),
    **dict.fromkeys(
        ("spray", "spraying", "packetspray", "packetspraying"),
        'network.path-selector = "spray" sends each flowcell over the next path, and each packet with '
        "network.flowcell = the mss: fanin explain flowcell",
    ),
    **dict.fromkeys(
        ("flowlet", "flowlets", "letflow"),
        'network.path-selector = "flowlets" has a flow take a random path after a pause: fanin explain flowlet-gap',
    ),
    "partitionaggregate": 'this is traffic of kind "requests", or "incast" if all begin at once',
}
"""Words of the field, without case and dashes -> what to use here."""


def _called_here(name: str) -> str:
    """Where something is that has another name here, or is a part of it, as CUBIC is of ``linux``."""
    folded = re.sub(r"[^a-z0-9]", "", name.lower())
    if folded in _CALLED_HERE:
        return f"; {_CALLED_HERE[folded]}"
    for plural, kind in KINDS.items():
        for row in registry()[plural]:
            # Other words, such as window, are in many summaries.
            if folded.upper() in re.findall(r"[A-Z][A-Z0-9]+", row["summary"]):
                return f"; the {kind} {row['key']} has it: fanin explain {row['key']}"
    return ""


def _did_you_mean(names: list[str]) -> str:
    quoted = " or ".join(f'"{name}"' for name in names)
    return f" (did you mean {quoted}?)" if names else ""


def _parameters_of(key: str, paths: list[str], parameters: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The explanation of a name that is that of one parameter or more."""
    params = [
        {**param, "key": path} for path in paths for param in _declarations(path) or [{**parameters[path], "of": ""}]
    ]
    if len(params) == 1:
        del params[0]["of"]
        return {"kind": "parameter", **params[0]}
    return {
        "kind": "name",
        "key": key,
        "summary": f"{len(params)} parameters have this name",
        "manual": "",
        "params": params,
    }


def _declarations(path: str) -> list[dict[str, Any]]:
    """A parameter that several topologies or queues declare, each in its own way: that ``of`` each of them."""
    found = [
        {**param, "of": row["key"]}
        for plural in ("topologies", "queues")
        for row in registry()[plural]
        for param in row["params"]
        if f"{_SECTION_OF[plural]}.{param['key']}" == path
    ]
    alike = all({**param, "of": ""} == {**found[0], "of": ""} for param in found)
    return [] if alike else found


def _of_groups(key: str, parameters: dict[str, dict[str, Any]]) -> list[str]:
    """The parameters of ``traffic.<key>`` or ``traffic.<name>.<key>``, of each kind that has it; of faults likewise."""
    section, *group = key.split(".")
    plural = {"traffic": "traffic", "fault": "faults"}.get(section)
    if plural is None or len(group) not in (1, 2):
        return []
    last = group.pop()
    kinds = [row["key"] for row in registry()[plural]]
    found = [name for name in (f"{section}.{kind}.{last}" for kind in kinds) if name in parameters]
    common = f"{section}.{last}"
    if group and (group[0] in kinds or not found):
        return [common] if common in parameters else []
    return found


def parameters() -> dict[str, dict[str, Any]]:
    """Every parameter by its path in a scenario file; those of traffic groups and faults are under their kind."""
    sections = registry()["sections"]
    found = {param["key"]: param for param in registry()["keys"]}
    found |= {f"{section}.{param['key']}": param for section, params in sections.items() for param in params}
    for plural, section in _SECTION_OF.items():
        for row in registry()[plural]:
            # A scenario has several of these tables, which overrides address by name.
            prefix = f"{section}.{row['key']}" if plural in {"traffic", "faults"} else section
            found |= {f"{prefix}.{param['key']}": param for param in row["params"]}
    for row in registry()["schemes"]:
        found |= {f"scheme.{row['key']}.{param['key']}": param for param in row["params"]}
    return found | {path: param for own, each in found.items() for path, param in _of_tiers(own, each)}


def _of_tiers(path: str, param: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parameters of the ports of single tiers that may have their own value of one, by path."""
    table, _, key = path.rpartition(".")
    for own in param["tiers"]:
        doc = f"{param['doc']} At the ports of {own.removesuffix(key)}rate."
        yield (
            f"{table}.{own}",
            {**param, "key": own, "default": f"that of {key}", "follows": None, "doc": doc, "tiers": []},
        )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a whole scenario file: the engine's sections and Python's."""
    from fanin.scenario.sections import Document

    schema: dict[str, Any] = json.loads(_engine.schema())
    owned = Document.model_json_schema(by_alias=True)
    paths = {
        "type": "object",
        "description": "Dotted path of a scenario value -> the values it takes; seeds -> the seeds of every point.",
        "additionalProperties": {"type": ["array", "string", "number", "boolean", "object"]},
    }
    swept = {"sweep": paths, "quick": paths}
    schema["properties"] = {**schema.get("properties", {}), **owned["properties"], **swept}
    definitions = {name: value for name, value in owned["$defs"].items() if name not in ("Sweep", "Quick")}
    schema["$defs"] = {**schema.get("$defs", {}), **definitions}
    return schema
