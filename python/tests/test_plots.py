import polars as pl
import pytest

import fanin
from fanin.errors import FaninError, ResultsError
from fanin.run.sweep import Runs
from fanin.scenario.format.plot import Plot
from fanin.show.plots.drawing import draw
from fanin.show.plots.series import series_of

RUNS = pl.DataFrame(
    {
        "scheme": ["b", "b", "a", "a", "b", "b", "a", "a"],
        "n": [20, 20, 20, 20, 10, 10, 10, 10],
        "seed": [1, 2, 1, 2, 1, 2, 1, 2],
        "goodput_bps": [1e8, 2e8, 5e8, 5e8, 9e8, 9e8, 9e8, 8e8],
    }
)
PLOT = Plot.model_validate(
    {
        "x": "n",
        "y": "goodput_bps",
        "by": "scheme",
        "title": "Collapse",
        "published": [{"x": 15, "label": "p"}, {"y": 9e8, "label": "q"}, {"x": 10, "y": 9e8, "label": "r"}],
    }
)


@pytest.fixture
def none(work):
    """No runs: enough for what is drawn from the table of runs."""
    return Runs(fanin.load("small.toml"), [])


def test_series_are_means_with_intervals_in_the_runs_order_of_lines(none):
    data = series_of(PLOT, none, RUNS).data
    assert data["by"].to_list() == ["b", "b", "a", "a"]
    assert data["x"].to_list() == [10, 20, 10, 20]
    assert data["mean"].to_list() == [9e8, 1.5e8, 8.5e8, 5e8]
    assert data["half"].to_list() == [None] * 4


def test_a_reference_of_several_rows_is_their_mean(none):
    bars = Plot(x="seed", y="goodput_bps", by="scheme", kind="bars", **{"relative-to": "a"})
    data = series_of(bars, none, RUNS).data
    found = dict(zip(zip(data["by"], data["x"], strict=True), data["mean"], strict=True))
    assert found["a", 1] == found["a", 2] == pytest.approx(1)
    assert found["b", 1] == pytest.approx((1 + 9) / (5 + 9))


def test_intervals_need_three_seeds(none):
    third = RUNS.filter(seed=1).with_columns(seed=pl.lit(3, pl.Int64))
    data = series_of(PLOT, none, pl.concat([RUNS, third])).data
    assert data["half"].to_list() == [0.0, pytest.approx(4.303 * 1e8 / 3), pytest.approx(4.303 * 1e8 / 3), 0.0]


def test_bare_numbers_are_named_after_what_varies(none):
    numbered = Plot(x="n", y="goodput_bps", by="n")
    assert series_of(numbered, none, RUNS).lines == ["n = 20", "n = 10"]
    assert series_of(PLOT, none, RUNS).lines == ["b", "a"]


def test_a_plot_is_three_files_with_units_and_the_same_bytes_each_time(none, tmp_path):
    first = draw(PLOT, series_of(PLOT, none, RUNS), tmp_path / "one")
    second = draw(PLOT, series_of(PLOT, none, RUNS), tmp_path / "two")
    assert [path.suffix for path in first] == [".png", ".svg", ".csv"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    svg = first[1].read_text()
    assert "Mbit/s" in svg
    assert "(published)" in svg


def test_a_plot_of_a_missing_column_says_what_there_is(none):
    with pytest.raises(FaninError, match="no column nonsense"):
        series_of(Plot(x="n", y="nonsense"), none, RUNS)


def test_a_plot_into_a_file_is_refused(none, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="--out"):
        draw(PLOT, series_of(PLOT, none, RUNS), tmp_path / "file")
