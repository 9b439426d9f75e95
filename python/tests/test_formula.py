import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fuzzed import FIXED

from fanin.numbers.formula import evaluate, names, parse_formula
from fanin.numbers.units import quantity


def test_columns_stand_in_braces():
    formula = "{a.b-c} / ({d} + 2) ** 2 - min({d}, 1) + sqrt(4) * -ceil(0.5)"
    assert names(formula) == ["a.b-c", "d"]
    assert evaluate(formula, {"a.b-c": 18.0, "d": 1.0}) == 18 / 9 - 1 - 2


@pytest.mark.parametrize("formula", ["{a} / 0", "sqrt({a} - 2)", "{b}", "(0 - {a}) ** 0.5", "10 ** 400", "1e308 * 10"])
def test_what_is_no_number_is_none(formula):
    assert evaluate(formula, {"a": 1.0}) is None


@pytest.mark.parametrize(
    "formula", ["min(1, {a})", "min({a}, 1)", "max(1, {a})", "max({a}, 1)", "{a} ** 0", "1 ** {a}"]
)
def test_of_what_is_no_number_nothing_has_a_value(formula):
    assert evaluate(formula, {"a": float("nan")}) is None
    undefined = formula.replace("{a}", "({a} - {a})")
    assert math.isnan(evaluate(undefined, {"a": float("inf")}))


def test_a_column_may_have_a_name_with_a_hash():
    assert evaluate("{a#b} + 1", {"a#b": 1.0}) == 2.0


@pytest.mark.parametrize(
    ("formula", "complaint"),
    [
        ("a + 1", "a column is written in braces: {a}"),
        ("{a} +", "not a formula"),
        ("__import__('os')", "braces"),
        ("{a}.real", "a formula has numbers"),
        ("max(*{a})", "max takes values"),
        ("'a'", "a formula has numbers"),
        ("True", "a formula has numbers"),
        ("{a} % 2", "a formula has numbers"),
        ("(lambda: 1)()", "a formula has numbers"),
        ("{a} + _0", "a column is written in braces: {_0}"),
        ("_0()", "a column is written in braces: {_0}"),
        ("{a}(1)", "a formula has numbers"),
        ("{a}1 + {b}", "not a formula"),
        ("1{a}", "not a formula"),
        ("{a} # / {b}", "a formula has no comment, so no #"),
        ("0/0", "a division by zero has no value"),
        ("{a} / (1 - 1)", "a division by zero has no value"),
        ("9**9**9", "9 ** 9 ** 9 has no finite value"),
        ("(1e308*10)-(1e308*10)", "has no finite value"),
        ("{a} + sqrt(-1)", "sqrt(-1) has no finite value"),
        ("{a} + (-8) ** 0.5", "(-8) ** 0.5 has no finite value"),
        ("min({a}, 1e308*10)", "1e+308 * 10 has no finite value"),
        ("sqrt()", "sqrt takes one value, not 0"),
        ("ceil({a}, 1)", "ceil takes one value, not 2"),
        ("min({a})", "min takes at least two values, not 1"),
        ("sqrt", "sqrt needs its values in parentheses"),
        ("+".join(["{a}"] * 102), "at most 100 operations, not 101"),
        ("+".join(["{a}"] * 20_000), "at most 4000 characters"),
        ("-" * 3999 + "1", "too deeply nested"),
        ("-" * 200 + "1", "at most 100 operations, not 200"),
        ("(" * 1999 + "1" + ")" * 1999, "not a formula"),
    ],
)
def test_nothing_but_arithmetic_is_allowed(formula, complaint):
    with pytest.raises(ValueError) as raised:
        parse_formula(formula)
    assert complaint in str(raised.value)


_PIECES = ["{a}", "_0", "sqrt", "min", "ceil", "(", ")", ",", "+", "-", "**", "/", "*", "1", "1e308", "0", ".", " "]


@FIXED
@given(st.text(max_size=20) | st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_any_text_is_a_formula_or_a_value_error(text):
    try:
        parse_formula(text)
    except ValueError:
        return
    evaluate(text, {"a": 1.0})


def test_scenario_values_count_in_stored_units():
    assert quantity("64KiB") == (65536.0, "B")
    assert quantity("25us") == (pytest.approx(25e-6), "s")
    assert quantity("10 Gbps") == (1e10, "bit/s")
    assert quantity("30%") == (0.3, "1")
    assert quantity(3) == (3.0, "")
    assert quantity("100kB") == quantity("100KB") == (1e5, "B")
    assert [quantity(value) for value in ("25GBps", "1Tbps", "500ps", "2TB", "1/16", "10mss", "0.5pkt")] == [
        (2e11, "bit/s"),
        (1e12, "bit/s"),
        (5e-10, "s"),
        (2e12, "B"),
        (0.0625, "1"),
        (10.0, "pkt"),
        (0.5, "pkt"),
    ]
    assert [quantity(value) for value in ("dctcp", "3parsec", "", None)] == [None] * 4
