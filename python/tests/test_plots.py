import polars as pl
import pytest

from fanin import plots
from fanin.errors import FaninError, ResultsError
from fanin.scenario import Plot

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


def test_series_are_means_with_intervals_in_the_runs_order_of_lines():
    data = plots.series(PLOT, RUNS)
    assert data["by"].to_list() == ["b", "b", "a", "a"]
    assert data["x"].to_list() == [10, 20, 10, 20]
    assert data["mean"].to_list() == [9e8, 1.5e8, 8.5e8, 5e8]
    assert data["half"].to_list() == [None] * 4


def test_intervals_need_three_seeds():
    third = RUNS.filter(seed=1).with_columns(seed=pl.lit(3, pl.Int64))
    data = plots.series(PLOT, pl.concat([RUNS, third]))
    assert data["half"].to_list() == [0.0, pytest.approx(4.303 * 1e8 / 3), pytest.approx(4.303 * 1e8 / 3), 0.0]


def test_bare_numbers_are_named_after_what_varies():
    data = pl.DataFrame({"by": ["10", "20"]})
    numbered = Plot(x="n", y="goodput_bps", by="traffic.bursts.senders")
    assert plots.line_names(numbered, data) == {"10": "senders = 10", "20": "senders = 20"}
    assert plots.line_names(PLOT, pl.DataFrame({"by": ["dctcp"]})) == {"dctcp": "dctcp"}


def test_a_plot_is_three_files_with_units_and_the_same_bytes_each_time(tmp_path):
    first = plots.draw(PLOT, RUNS, tmp_path / "one")
    second = plots.draw(PLOT, RUNS, tmp_path / "two")
    assert [path.suffix for path in first] == [".png", ".svg", ".csv"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    svg = first[1].read_text()
    assert "Mbit/s" in svg
    assert "(published)" in svg


def test_a_plot_of_a_missing_column_says_what_there_is():
    with pytest.raises(FaninError, match="no column nonsense"):
        plots.series(Plot(x="n", y="nonsense"), RUNS)


def test_a_plot_into_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="--out"):
        plots.draw(PLOT, RUNS, tmp_path / "file")
