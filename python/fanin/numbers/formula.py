"""Arithmetic over a run's columns: ``{drops} / ({segments_received} + {drops})``.

Column names are written in braces, because they may contain dots and dashes. The rest is numbers, ``+ - * / **``,
parentheses, ``min`` and ``max`` of at least two values, ``sqrt`` and ``ceil`` of one. A formula is refused when its
file is read if a part of it that has no columns has no finite value, or is zero and a divisor.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping

_NAME = re.compile(r"\{([^{}]+)\}")
_COLUMN = re.compile(r"_\d+")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"min": min, "max": max, "sqrt": math.sqrt, "ceil": math.ceil}
_OF_SEVERAL_VALUES = ("min", "max")
"""Functions of at least two values; the others take one."""

_MAX_OPERATIONS = 100
"""So many operations nest at most as deeply, which is within what Python can recurse."""
_MAX_CHARACTERS = 4000


def names(formula: str) -> list[str]:
    """The columns that a formula names, in order."""
    return list(dict.fromkeys(_NAME.findall(formula)))


# Each run of a sweep evaluates the same ones.
@functools.lru_cache(maxsize=1024)
def parse_formula(formula: str) -> ast.expr:
    """The formula's tree; its n-th column is the name ``_n``.

    Raises:
        ValueError: it is not a valid formula.

    """
    if len(formula) > _MAX_CHARACTERS:
        raise ValueError(f"a formula has at most {_MAX_CHARACTERS} characters, not {len(formula)}")
    if own := re.search(rf"\b{_COLUMN.pattern}\b", _NAME.sub("", formula)):
        raise ValueError(f"a column is written in braces: {{{own.group()}}}, in {formula!r}")
    if "#" in _NAME.sub("", formula):
        raise ValueError(f"a formula has no comment, so no #: {formula!r}")
    order = names(formula)
    # Apart from what stands beside it: the 1 of "{a}1" is no part of the name.
    plain = _NAME.sub(lambda match: f" _{order.index(match.group(1))} ", formula).strip()
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"not a formula: {error.msg}: {formula!r}") from None
    except (MemoryError, RecursionError):
        raise ValueError(f"not a formula: too deeply nested: {formula!r}") from None
    nodes = list(ast.walk(tree))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in _FUNCTIONS and id(node) not in called:
            raise ValueError(f"{node.id} needs its values in parentheses: {formula!r}")
        _allow(node, formula)
    operations = sum(isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call) for node in nodes)
    if operations > _MAX_OPERATIONS:
        raise ValueError(f"a formula has at most {_MAX_OPERATIONS} operations, not {operations}")
    for node in nodes:
        _refuse_undefined(node, formula)
    return tree


def _refuse_undefined(node: ast.AST, formula: str) -> None:
    """Refuses what has no value in any row: a constant that is not finite, or a division by zero."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _constant(node.right) == 0:
        raise ValueError(f"a division by zero has no value: {formula!r}")
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call) and not math.isfinite(_constant(node) or 0.0):
        raise ValueError(f"{ast.unparse(node)} has no finite value: {formula!r}")


def _constant(node: ast.expr) -> float | None:
    """The value of what has no columns, NaN if it has none; ``None`` if it has columns."""
    if any(isinstance(each, ast.Name) and _COLUMN.fullmatch(each.id) for each in ast.walk(node)):
        return None
    try:
        return _value(node, [])
    except (ArithmeticError, ValueError):
        return math.nan


def _allow(node: ast.AST, formula: str) -> None:
    match node:
        case ast.Name(id=name) if name in _FUNCTIONS or _COLUMN.fullmatch(name):
            return
        case ast.Name(id=name):
            raise ValueError(f"a column is written in braces: {{{name}}}, in {formula!r}")
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number) if not abs(number) <= sys.float_info.max:
            raise ValueError(f"a number is too large: {formula!r}")
        case ast.Constant(value=int() | float()) | ast.UnaryOp(op=ast.USub()) | ast.USub() | ast.Load():
            return
        case ast.BinOp(op=operation) if type(operation) in _OPERATORS:
            return
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            if any(isinstance(argument, ast.Starred) for argument in arguments):
                raise ValueError(f"{name} takes values: {formula!r}")
            if len(arguments) < 2 if name in _OF_SEVERAL_VALUES else len(arguments) != 1:
                takes = "at least two values" if name in _OF_SEVERAL_VALUES else "one value"
                raise ValueError(f"{name} takes {takes}, not {len(arguments)}: {formula!r}")
            return
        case ast.Call(func=ast.Name(id=name)) if not _COLUMN.fullmatch(name):
            # The name itself is what is wrong.
            return
        case ast.operator() if type(node) in _OPERATORS:
            return
    raise ValueError(f"a formula has numbers, {{columns}}, + - * / **, {', '.join(_FUNCTIONS)}: {formula!r}")


def evaluate(formula: str, row: Mapping[str, float]) -> float | None:
    """The formula's value for a run; ``None`` if a column has no value or the result is not a real number.

    Of infinite columns it may be infinite too, or NaN if it is undefined, such as the difference of two.
    """
    try:
        values = [row[name] for name in names(formula)]
        found = _value(parse_formula(formula), values)
    except (ArithmeticError, KeyError, ValueError):
        return None
    return found if math.isfinite(found) or any(map(math.isinf, values)) else None


def _value(node: ast.expr, values: list[float]) -> float:
    function: Callable[..., float]
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[int(name[1:])]
        case ast.UnaryOp(operand=operand):
            return -_value(operand, values)
        case ast.BinOp(left=left, op=operation, right=right):
            function, operands = _OPERATORS[type(operation)], [left, right]
        case ast.Call(func=ast.Name(id=name), args=arguments):
            function, operands = _FUNCTIONS[name], arguments
        case _:
            raise AssertionError(f"not allowed by parse_formula: {node}")
    of = [_value(operand, values) for operand in operands]
    # min, max and ** have a value even of what is none.
    found = math.nan if any(map(math.isnan, of)) else function(*of)
    if isinstance(found, complex):
        raise ValueError("no real number")
    return float(found)
