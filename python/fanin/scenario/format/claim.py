"""``[claims]`` and ``[[claim]]``: sentences of a paper in checkable form, with the readings that judge each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, FiniteFloat, WithJsonSchema, model_validator

from fanin.scenario.basis import Basis
from fanin.scenario.format.base import Names, Numbers, Section, Span, Where, flattened
from fanin.scenario.format.plot import is_of_table

Measure = Literal[
    "mean",
    "mean-ratio",
    "max",
    "min",
    "first-at-least",
    "first-at-most",
    "collapse-point",
    "first-drop",
    "trend",
    "wins",
    "order",
    "lead",
    "margin",
    "farthest",
]
OF_RIVALS = ("wins", "order", "lead", "margin", "farthest")
"""Measures that compare runs with each of several others."""
Better = Literal["high", "low"]


def _one_each(rivals: object) -> object:
    """One rival for each value of a table's only list: ``{ system = ["DCTCP", "ICTCP"] }``."""
    table = flattened(rivals)
    if not isinstance(table, dict):
        return rivals
    several = [name for name, values in table.items() if isinstance(values, list)]
    if len(several) != 1:
        raise ValueError("as one table it has one list, with a value for each rival")
    return [{**table, several[0]: value} for value in table[several[0]]]


Rivals = Annotated[list[Where], BeforeValidator(_one_each), WithJsonSchema({"type": ["array", "object"]})]
"""Several sets of runs, or one table with a list."""


class Terms(Section):
    """The keys of ``[claims]``, a reading, a claim or a case; each overrides those before it, key by key.

    ``measure`` turns the curve of ``y`` against ``x``, over the runs that match ``where``, into one number; ``over``
    names a second set of runs whose number divides it, ``minus`` one whose number is subtracted, ``rivals`` those with
    which it is compared. The number inside ``accept`` is *reproduced*, unless it is infinite and the paper's is not;
    otherwise with its whole interval inside ``direction`` it is *right direction, other size*; anything else is *not
    reproduced*.
    """

    measure: Measure | None = None
    x: str | None = Field(default=None, description="Sweep variable or column; time_s for a result table's column.")
    y: str | None = Field(default=None, description="Column, or table.column for a curve over time.")
    runs: Where = Field(default={}, description="Column -> value or values, for where, over, minus and every rival.")
    where: Where = Field(default={}, description="Runs: column -> value or values.")
    rows: Where = Field(default={}, description="Rows of the result table.")
    every: FiniteFloat | None = Field(default=None, gt=0, description="Means over intervals of this many seconds.")
    over: Where | None = Field(default=None, description="Runs whose number divides.")
    minus: Where | None = Field(default=None, description="Runs whose number is subtracted.")
    rivals: Rivals = Field(default=[], description="The others; order: those that follow.")
    better: Better = Field(default="high", description="wins, order, lead, margin: which y is the better one.")
    at: Numbers | None = Field(default=None, description="Keep only these values of x.")
    between: Span | None = Field(default=None, description="Keep only x from here (included) to there (included).")
    level: FiniteFloat | None = Field(default=None, description="Level of first-at-least and first-at-most.")
    published: FiniteFloat | str | None = Field(default=None, description="The paper's number, or its words.")
    accept: Span | None = Field(default=None, description="Lowest and highest value that reproduce the claim.")
    direction: Span | None = Field(default=None, description="Range that shows the right sign or order only.")
    why: str = Field(
        default="", description="Reason for the accepted range, fixed before the first run unless ``added`` is given."
    )
    added: str = Field(default="", description="What had been seen when the claim, its range or reading was written.")
    explanation: str = Field(default="", description="Cause, if the claim is not fully reproduced.")
    note: str = Field(default="", description="Why the claim is judged by rank or ratio and not by its number.")
    basis: Basis | None = Field(
        default=None,
        description="What the setting rests on: printed (the paper's own values suffice), environment, reading, or "
        "sensitivity (it contradicts the text, is shown and never counts).",
    )

    @model_validator(mode="after")
    def _spans_go_upwards(self) -> Self:
        for name, bounds in (("accept", self.accept), ("direction", self.direction)):
            if bounds is not None and not bounds[0] <= bounds[1]:
                raise ValueError(f"{name} = [low, high] needs low <= high")
        return self


Location = tuple[str | int, ...]
"""A place in a file: keys, and indices into arrays of tables."""

_TERMS = frozenset(Terms.model_fields)

_TABLES = ("runs", "where", "rows", "over", "minus")
"""Terms whose single keys are replaced by later ones."""


class Reading(Terms):
    """A reading of the paper under which several claims of a file are judged."""

    id: str = Field(description="What claims call it, and the end of its cases' ids.")
    says: str = Field(description="The reading in words.")


class WrittenCase(Terms):
    """The differences under some of the claim's readings, or with its own id, a reading of this claim alone."""

    id: str | None = Field(default=None, description="Id of the case; the claim's with the reading's if left out.")
    under: Names = Field(default=[], description="Readings of the file that this is about.")
    reading: str | None = Field(default=None, description="The reading in words, if it is none of the file's.")


class Claims(Terms):
    """Terms shared by the claims of a file."""

    readings: list[str] = Field(default=[], description="Readings of all claims that name none, the main one first.")
    full_ids: bool = Field(default=False, description="The id of a claim's main reading ends the id of its case too.")
    reading: list[Reading] = Field(default=[], description="Readings of the paper.")


class Claim(Terms):
    """One sentence of a paper."""

    id: str
    says: str = Field(description="The paper's claim.")
    same_as: str = Field(default="", description="The same sentence in another file: experiment#claim. It counts once.")
    half_of: str = Field(default="", description="Claim of the file with the rest of the sentence; both have to hold.")
    everywhere: bool = Field(default=False, description="It holds only if it does in each experiment that judges it.")
    like: str = Field(default="", description="Another claim of the file, whose terms and readings this one has too.")
    impossible: str = Field(default="", description="Why no setting can show it: arithmetic, or another sentence.")
    readings: list[str] | None = Field(default=None, description="Readings that judge it, the main one first.")
    reading: str = Field(default="", description="The only or main reading in words, if it is none of the file's.")
    explanations: dict[str, str] = Field(default={}, description="Reading -> cause, if it is not fully reproduced.")
    case: list[WrittenCase] = Field(default=[], description="What else differs under a reading, and further readings.")


class Case(Terms):
    """A claim under one reading, which is judged."""

    id: str
    claim: str
    """Id of its claim."""
    half_of: str = ""
    """Id of the claim that has the rest of the sentence and is counted."""
    says: str
    reading: str = ""
    measure: Measure
    y: str
    accept: Span
    why: str
    origin: dict[str, Location] = Field(default={}, exclude=True, repr=False)
    """The place of its terms in the file."""

    @model_validator(mode="after")
    def _fits_its_measure(self) -> Self:
        if (self.level is not None) != self.measure.startswith("first-at-"):
            raise ValueError("level belongs to first-at-least and first-at-most, which need it")
        if bool(self.rivals) != (self.measure in OF_RIVALS):
            raise ValueError(f"rivals belongs to {', '.join(OF_RIVALS)}, which need it")
        if sum(map(bool, (self.over is not None, self.minus is not None, self.rivals))) > 1:
            raise ValueError("only one of over, minus and rivals")
        if self.measure == "mean-ratio" and self.over is None:
            raise ValueError("mean-ratio needs over")
        if self.x is None and not is_of_table(self.y):
            raise ValueError("needs x, the axis that y is a curve over")
        return self

    @property
    def table(self) -> str | None:
        """Result table that it reads."""
        return self.y.partition(".")[0] if is_of_table(self.y) else None

    def location(self, key: str) -> Location:
        """The place of one of its terms in the file; terms of all its runs may be in ``runs``."""
        return self.origin.get(key) or self.origin.get("runs") or (*self.origin["measure"][:-1], key)

    @property
    def axis(self) -> str:
        """Name of the column on the curve's x axis."""
        return self.x or "time_s"


_Layer = tuple[Location, Terms]
"""Terms and their places in the file."""


def cases(index: int, claims: Sequence[Claim], shared: Claims) -> list[Case]:
    """The cases of a claim, its main reading first.

    Args:
        index: Index of the claim in its file.
        claims: The claims of the file.
        shared: Terms shared by them.

    Raises:
        ValueError: a reading, a case or a claim does not exist.
        ValidationError: a case lacks a required key, or has one that does not fit.

    """
    known = {reading.id: (("claims", "reading", number), reading) for number, reading in enumerate(shared.reading)}
    claim, inherited = _with_inherited(index, claims)
    names = shared.readings if claim.readings is None else claim.readings
    _check_readings(names, known, claim)
    common: list[_Layer] = [(("claims",), shared), *inherited, (("claim", index), claim)]
    written: list[tuple[Location, WrittenCase]] = [
        (("claim", index, "case", number), case) for number, case in enumerate(claim.case)
    ]
    found: list[Case] = []
    for name in names:
        about = [(location, case) for location, case in written if name in case.under]
        given = next((case.id for _, case in about if case.id), None)
        words = next((case.reading for _, case in about if case.reading is not None), known[name][1].says)
        own = f"{claim.id}-{name}" if found or shared.full_ids else claim.id
        layers = [*common, known[name], *_explained(index, claim, name), *about]
        found.append(_case(claim, given or own, words, layers))
    if not names and not any(case.id == claim.id for case in claim.case):
        found.append(_case(claim, claim.id, claim.reading, common))
    for location, case in written:
        if not case.under:
            words = claim.reading if case.reading is None else case.reading
            found.append(_case(claim, case.id or "", words, [*common, (location, case)]))
    return found


def check_half(index: int, claims: Sequence[Claim], shared: Claims) -> None:
    """Checks that a claim that is half of another's sentence is judged under the same readings.

    Args:
        index: Index of the claim in its file.
        claims: The claims of the file.
        shared: Terms shared by them.

    Raises:
        ValueError: the other claim is not before it or is a half itself, or its readings differ.

    """
    claim = claims[index]
    if not claim.half_of:
        return
    before = [place for place in range(index) if claims[place].id == claim.half_of and not claims[place].half_of]
    if not before:
        raise ValueError(f"half-of: {claim.half_of} is not a claim before this one that is no half itself")
    if claim.same_as or claim.impossible:
        raise ValueError("half-of: same-as and impossible belong to the claim that this one is half of")
    own, other = ([case.reading for case in cases(each, claims, shared)] for each in (index, before[0]))
    for reading in [*own, *other]:
        if own.count(reading) != 1 or other.count(reading) != 1:
            raise ValueError(f'half-of: both halves need one case with the reading "{reading}"')


def _with_inherited(index: int, claims: Sequence[Claim]) -> tuple[Claim, list[_Layer]]:
    """A claim with the readings of the claim that it is like, and the terms of that claim."""
    claim = claims[index]
    if not claim.like:
        return claim, []
    place = next((place for place, each in enumerate(claims) if each.id == claim.like), None)
    if place is None or claims[place].like:
        raise ValueError(f"like: {claim.like} is not a claim of this file with terms of its own")
    other = claims[place]
    taken = {key: getattr(other, key) for key in ("readings", "reading") if key not in claim.model_fields_set}
    terms = {key: getattr(other, key) for key in (other.model_fields_set & _TERMS) - {"explanation"}}
    return claim.model_copy(update=taken), [(("claim", place), Terms.model_construct(**terms))]


def _check_readings(names: Iterable[str], known: Iterable[str], claim: Claim) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"readings: {name} is not declared in [claims]")
    for case in claim.case:
        if not case.under and case.id is None:
            raise ValueError("case: needs under, the readings that it is about, or an id of its own")
    for key, under in [("explanations", claim.explanations), *(("case", case.under) for case in claim.case)]:
        for name in under:
            if name not in names:
                raise ValueError(f"{key}: {name} is none of the claim's readings")


def _explained(index: int, claim: Claim, name: str) -> list[_Layer]:
    """A claim's explanation for one of its readings."""
    found = claim.explanations.get(name)
    return [] if found is None else [(("claim", index, "explanations"), Terms(explanation=found))]


def _case(claim: Claim, name: str, reading: str, layers: Iterable[_Layer]) -> Case:
    """The merged layers; later layers replace single keys of tables."""
    terms: dict[str, Any] = {}
    origin: dict[str, Location] = {}
    for location, layer in layers:
        for key in layer.model_fields_set & _TERMS:
            value = getattr(layer, key)
            terms[key] = {**(terms.get(key) or {}), **value} if key in _TABLES and value else value
            origin[key] = (*location, key)
    if runs := terms.pop("runs", {}):
        terms["where"] = {**runs, **terms.get("where", {})}
        for key in ("over", "minus"):
            if terms.get(key) is not None:
                terms[key] = {**runs, **terms[key]}
        if "rivals" in terms:
            terms["rivals"] = [{**runs, **rival} for rival in terms["rivals"]]
    words = {"id": name, "claim": claim.id, "half_of": claim.half_of, "says": claim.says, "reading": reading}
    return Case.model_validate({**words, "origin": origin, **terms})
