import itertools
import re
import warnings

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

import fanin
from fanin.errors import FaninError, ResultsError
from fanin.numbers.summary import column
from fanin.results.columns import describe, own_labels
from fanin.run.sweep import Runs
from fanin.scenario import library
from fanin.scenario.format.plot import CATEGORICAL, Plot
from fanin.show.plots import drawing
from fanin.show.plots.drawing import caption, draw
from fanin.show.plots.drawn_before import fingerprint
from fanin.show.plots.layout import balanced, name_places, spread, text_width, wrapped
from fanin.show.plots.series import Series, series_of
from fanin.show.plots.styles import styles

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
    return Runs(fanin.Scenario("small.toml"), [])


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
    # 100, 200 and 100 Mbit/s: Student's interval reaches below zero.
    assert data["half"].to_list() == [0.0, None, pytest.approx(4.303 * 1e8 / 3), 0.0]
    assert data.select("low", "high").row(1) == (1e8, 2e8)


def test_a_band_that_impossible_is_one_of_quantiles_and_the_figure_says_so(none, tmp_path):
    seeds = [1, 2, 3, 4, 5]
    split = pl.DataFrame(
        {
            "scheme": ["a"] * 10,
            "n": [10] * 5 + [20] * 5,
            "seed": seeds * 2,
            "goodput_bps": [9e8, 9.1e8, 1e7, 9e8, 2e7, *[9e8, 9.01e8, 9.02e8, 9e8, 9.01e8]],
            "capacity_bps": [1e9] * 10,
        }
    )
    drawn = series_of(PLOT, none, split)
    first, second = drawn.data.select("half", "low", "high").rows()
    assert first == (None, 1e7, 9.1e8)
    assert second[2] - second[1] == pytest.approx(2 * second[0])
    plain = Plot(x="n", y="goodput_bps", by="scheme")
    text = draw(plain, drawn, tmp_path, also=())[0].read_text()
    assert "Bands: 95 % interval of the mean over the seeds" in text
    assert "where that has impossible values" in text
    steady = series_of(plain, none, split.filter(n=20))
    assert "low" not in steady.data.columns
    assert "impossible values" not in draw(plain, steady, tmp_path, also=())[0].read_text()


def test_few_seeds_have_bands_of_all_that_they_gave_on_a_logarithmic_axis(none):
    values = {1: 1e8, 2: 1.2e8, 3: 1.1e8, 4: 1.3e8, 5: 1.25e8}

    def drawn(seeds, **more):
        rows = {"scheme": "a", "n": [10] * seeds, "seed": [*values][:seeds], "goodput_bps": [*values.values()][:seeds]}
        plot = Plot(x="n", y="goodput_bps", by="scheme", **more)
        found = series_of(plot, none, pl.DataFrame(rows))
        return found.data.to_dicts()[0], caption(plot, found)

    log = {"y-scale": "log"}
    (row, said) = drawn(3, **log)
    # The interval of the mean would be from 85 to 135 Mbit/s; tables have it all the same.
    assert (row["low"], row["high"], row["half"]) == (1e8, 1.2e8, pytest.approx(0.248e8, rel=1e-2))
    assert said.endswith("Bands: from the smallest to the largest value of the seeds.\n")
    for row, said in (drawn(5, **log), drawn(3)):
        assert "low" not in row
        assert said.endswith("Bands: 95 % interval of the mean over the seeds (Student's t).\n")


def test_few_values_on_a_logarithmic_axis_are_its_ticks(none):
    def ticks(values, style="column"):
        count = len(values)
        frame = {"scheme": ["a"] * count, "n": values, "seed": [1] * count, "goodput_bps": [1e8 + x for x in values]}
        plot = Plot(x="n", y="goodput_bps", by="scheme", style=style, **{"x-scale": "log"})
        (axes,) = drawing._figure(plot, series_of(plot, none, pl.DataFrame(frame))).axes
        return [*axes.get_xticks()], [*axes.get_xticks(minor=True)]

    assert ticks([4, 8, 16, 32]) == ([4, 8, 16, 32], [])
    # There is no room for each, or they are many.
    assert ticks([1000, 1001, 1002, 4000])[0] != [1000, 1001, 1002, 4000]
    assert len(ticks([2**each for each in range(12)])[0]) < 12


def test_a_label_has_lines_of_about_one_length_and_keeps_its_unit():
    assert balanced("Goodput [Mbit/s]", 8, 3) == "Goodput [Mbit/s]"
    assert wrapped("Flow completion time, 99th percentile [ms]", 8, 1.8).endswith("99th\npercentile [ms]")
    assert (
        balanced("Flow completion time, 99th percentile [ms]", 8, 1.8) == "Flow completion time,\n99th percentile [ms]"
    )
    label = "Completion time of queries [ms]"
    room = text_width(label, 8) - 0.01
    assert wrapped(label, 8, room).endswith("\n[ms]")
    assert balanced(label, 8, room) == "Completion time\nof queries [ms]"


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


@pytest.mark.parametrize("kind", ["line", "bars", "points"])
def test_what_is_shared_by_ticks_and_figures_does_not_change_the_picture(tmp_path, monkeypatch, kind):
    lines = {"TCP": [1, 2, 30], "a line of another name": [3, 1, 2]}
    scale = {"y-scale": "linear" if kind == "bars" else "log"}
    ours = svg_of(tmp_path, lines, kind, **scale)
    monkeypatch.setattr(drawing, "SharedAxes", Axes)
    plain = lambda figure, file, metadata: FigureCanvasSVG(figure).print_svg(file, metadata=metadata)  # noqa: E731
    monkeypatch.setattr(drawing, "write_svg", plain)
    assert svg_of(tmp_path, lines, kind, **scale) == ours


def test_a_dollar_sign_begins_no_formula(none, tmp_path):
    plot = PLOT.model_copy(update={"title": r"Costs $\frac{$ and $x$"})
    (svg,) = [path for path in draw(plot, series_of(plot, none, RUNS), tmp_path, also=()) if path.suffix == ".svg"]
    assert r"Costs $\frac{$ and $x$" in svg.read_text()


def test_a_plot_of_a_missing_column_says_what_there_is(none):
    with pytest.raises(FaninError, match="no column nonsense"):
        series_of(Plot(x="n", y="nonsense"), none, RUNS)


def test_a_plot_into_a_file_is_refused(none, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="out="):
        draw(PLOT, series_of(PLOT, none, RUNS), tmp_path / "file")


def shown(lines, kind="line", **keys):
    """A plot of these lines, each with its values at 1, 2 and so on."""
    rows = [(by, x, float(y), 0.0, 3) for by, values in lines.items() for x, y in enumerate(values, start=1)]
    data = pl.DataFrame(rows, schema=["by", "x", "mean", "half", "runs"], orient="row")
    plot = Plot.model_validate({"id": "p", "kind": kind, "x": "flows", "y": "drops", "by": "system", **keys})
    return plot, Series(data, column("flows"), column("drops"))


def svg_of(folder, lines, kind="line", **keys):
    return draw(*shown(lines, kind, **keys), folder, also=())[0].read_text()


def test_lines_that_coincide_take_turns_and_say_so(tmp_path):
    svg = svg_of(tmp_path, {"TCP": [1, 2, 3], "DCTCP": [3, 2, 9], "RCC": [1, 2, 3]})
    assert "RCC (same as TCP)" in svg
    assert "DCTCP (same as" not in svg
    dashes = re.findall(r"stroke-dasharray: ([\d.,]+); stroke-dashoffset: ([\d.]+)", svg)
    assert len(set(dashes)) == 2, "one line has its dashes where the other has its gaps"
    assert "RCC (nearly as TCP)" in svg_of(tmp_path, {"TCP": [1, 2, 900], "RCC": [1, 3, 900]})
    apart = svg_of(tmp_path, {"TCP": [1, 2, 3], "RCC": [1, 2, 4]})
    assert "same as" not in apart
    assert "stroke-dasharray" not in apart


def test_a_scheme_has_one_colour_and_marker_in_every_figure():
    one = styles(["TCP", "RCC", "RCC without scheduler", "PFDCT-ST", "PFDCT, RED"])
    other = styles(["RCC, drawn", "PFDCT", "RCC", "newreno", "TCP (128 KiB)"])
    looks = {name: (style.colour, style.marker) for name, style in {**one, **other}.items()}
    assert looks["RCC"] == looks["RCC without scheduler"] == looks["RCC, drawn"]
    assert looks["TCP"] == looks["newreno"] == looks["TCP (128 KiB)"]
    assert looks["PFDCT"] == looks["PFDCT, RED"] != looks["PFDCT-ST"]
    assert len({looks[name] for name in ("TCP", "RCC", "PFDCT", "PFDCT-ST")}) == 4
    assert other["RCC"].dash == one["RCC"].dash == "-"
    assert other["RCC, drawn"].dash != "-"
    assert other["RCC, drawn"].hatch != other["RCC"].hatch
    assert len({style.fill for style in styles(["RCC", "RCC, a", "RCC, b", "RCC, c"]).values()}) == 4


def test_what_runs_on_linux_is_told_apart_by_colour():
    looks = styles(["linux", "linux-reno", "linux-dctcp", "dctcp"])
    colours = [np.array(mpl.colors.to_rgb(look.colour)) for look in looks.values()]
    assert min(np.abs(one - other).sum() for one, other in itertools.combinations(colours, 2)) > 0.4
    named = styles(["Linux DCTCP, 65 packets", "Linux CUBIC", "Linux Reno", "Linux DCTCP"])
    assert [named[f"Linux {name}"].colour for name in ("CUBIC", "Reno", "DCTCP")] == [
        looks[key].colour for key in ("linux", "linux-reno", "linux-dctcp")
    ]
    assert len({styles([name])[name] for name in ("CUBIC", "Linux CUBIC", "linux")}) == 1
    both = styles(["CUBIC", "Linux CUBIC"]).values()
    assert [len({getattr(look, key) for look in both}) for key in ("colour", "marker", "dash")] == [1, 1, 2]
    assert (named["Linux DCTCP"].dash, named["Linux DCTCP, 65 packets"].dash != "-") == ("-", True)


def test_bars_of_systems_have_the_colours_of_the_systems(tmp_path):
    data = pl.DataFrame({"by": [""] * 2, "x": ["RCC", "TCP"], "mean": [1.0, 2.0], "half": [0.0] * 2, "runs": [3] * 2})
    plot = Plot.model_validate({"id": "p", "kind": "bars", "x": "system", "y": "drops"})
    svg = draw(plot, Series(data, column("system", "System"), column("drops")), tmp_path, also=())[0].read_text()
    for look in styles(["RCC", "TCP"]).values():
        assert f"fill: {look.colour.lower()}" in svg


def test_a_logarithmic_axis_has_points_and_no_bars(tmp_path):
    with pytest.raises(ValueError, match='a bar has no base on a logarithmic axis; use kind = "points"'):
        shown({"TCP": [1, 2]}, "bars", **{"y-scale": "log"})
    assert "TCP" in svg_of(tmp_path, {"TCP": [1, 200]}, "points", **{"y-scale": "log"})


@pytest.mark.parametrize("kind", ["line", "points"])
def test_a_logarithmic_axis_shows_zeros_as_zero(tmp_path, kind):
    svg = svg_of(tmp_path, {"TCP": [0, 3, 200]}, kind, **{"y-scale": "log"})
    assert ">0</text>" in svg
    assert "linear below 1" in svg
    assert "linear below" not in svg_of(tmp_path, {"TCP": [1, 3, 200]}, kind, **{"y-scale": "log"})


def test_a_plot_may_call_its_lines_by_other_names(none):
    plot = PLOT.model_copy(update={"names": {"a": "a scheme"}})
    assert series_of(plot, none, RUNS).lines == ["b", "a scheme"]
    with pytest.raises(FaninError, match="names: 'c' is no line"):
        series_of(PLOT.model_copy(update={"names": {"c": "d"}}), none, RUNS)


def test_names_of_places_that_are_values_need_no_unit(none):
    frame = RUNS.with_columns(rto=pl.lit("200 us"))
    plot = Plot.model_validate({"x": "rto", "y": "goodput_bps", "kind": "bars", "x-label": "Minimum RTO"})
    assert series_of(plot, none, frame).x.axis("Minimum RTO") == "Minimum RTO"


def test_a_figure_is_identified_by_its_data_and_its_description():
    plot, drawn = shown({"TCP": [1, 2]})
    first = fingerprint(plot, drawn)
    assert first == fingerprint(*shown({"TCP": [1, 2]}))
    assert first != fingerprint(*shown({"TCP": [1, 3]}))
    assert first != fingerprint(*shown({"TCP": [1, 2]}, title="Another"))


def lines_of(experiment, plot):
    """The names of a plot's lines as far as the file says; a column of a result table counts as two."""
    known = experiment.labels | {key: list(map(str, values)) for key, values in experiment.sweep.variables.items()}
    values = [
        plot.where.get(name) or plot.rows.get(name) or known.get(name, ["group-1", "group-2"]) for name in plot.by
    ]
    measures = [describe(own_labels(experiment), name).label for name in plot.y or []]
    names = [", ".join(map(str, each)) for each in itertools.product(*values)]
    return [f"{name}, {label}".strip(", ") for name in names for label in measures] if len(measures) > 1 else names


def figures():
    for name in library.experiments():
        experiment = fanin.Scenario(name)
        for plot in experiment.document.plot:
            if not plot.is_diagram:
                yield experiment, plot, lines_of(experiment, plot)


def test_no_figure_has_more_than_seven_lines():
    many = {f"{experiment.name} {plot.name}": len(lines) for experiment, plot, lines in figures() if len(lines) > 7}
    assert many == {}


def test_no_text_of_any_figure_leaves_the_canvas_or_meets_another():
    outside = []
    for experiment, plot, lines in figures():
        own = own_labels(experiment)
        x = (
            plot.where.get(plot.x) or experiment.labels.get(plot.x, [1, 1000])
            if plot.kind in CATEGORICAL
            else [0.5, 2.5]
        )
        rows = [(line, place, 1e-3 + index, 0.1, 3) for line in lines for index, place in enumerate(x)]
        columns = ["by", "x", "share" if plot.kind == "cdf" else "mean", "half", "runs"]
        data = pl.DataFrame(rows, schema=columns, orient="row")
        levels = [each for each in plot.published if each.by is None or each.by in lines]
        drawn = Series(data, describe(own, plot.x or "time_s"), describe(own, (plot.y or [plot.x])[0]))
        with mpl.rc_context(drawing.STYLE):
            figure = drawing._figure(plot.model_copy(update={"published": levels}), drawn)
            outside += [f"{experiment.name} {plot.name}: {each}" for each in misplaced(figure)]
    assert outside == []


def figure_of(count, **keys):
    """A plot of several lines that end close together, and the axes of its figure."""
    plot = Plot.model_validate({"x": "n", "y": "goodput_bps", "by": "scheme", "title": "T"} | keys)
    rows = [(f"line {i}", x, 1e8 * i ** (2 - x) + 2e6 * i, 1e6, 3) for i in range(count) for x in (1, 2)]
    data = pl.DataFrame(rows, schema=["by", "x", "mean", "half", "runs"], orient="row")
    with mpl.rc_context(drawing.STYLE):
        return drawing._figure(plot, Series(data, describe({}, "senders"), describe({}, "goodput_bps")))


def named_at_lines(figure):
    """The names beside the right ends of lines, from the lowest to the highest, and those in the legend."""
    (axes,) = figure.axes
    legend = axes.get_legend()
    names = sorted((text for text in axes.texts if text.get_position()[0] > 1), key=lambda text: text.get_position()[1])
    return [text.get_text() for text in names], [text.get_text() for text in legend.get_texts()] if legend else []


@pytest.mark.parametrize("style", ["page", "slide"])
def test_of_more_than_four_lines_each_has_its_name_at_its_right_end(style):
    names = [f"line {i}" for i in range(6)]
    figure = figure_of(6, style=style)
    assert misplaced(figure) == []
    assert named_at_lines(figure) == (names, [])
    assert named_at_lines(figure_of(4, style=style)) == ([], names[:4])
    assert named_at_lines(figure_of(6, style=style, kind="bars")) == ([], names)


def test_names_of_lines_stand_above_the_axes_of_a_column():
    found, listed = named_at_lines(figure_of(6, style="column"))
    assert (found, len(listed)) == ([], 6)


def test_what_has_no_end_stays_in_the_legend():
    published = [{"x": 1.5, "y": 9e7, "label": "paper"}]
    names, listed = named_at_lines(figure_of(5, published=published))
    assert (len(names), listed) == (5, ["paper (published)"])


def test_names_that_would_overlap_are_spread_around_where_they_are_wanted():
    assert spread([0.1, 0.5, 0.9], [0.1, 0.1, 0.1]) == pytest.approx([0.1, 0.5, 0.9])
    assert spread([0.5, 0.5], [0.1, 0.1]) == pytest.approx([0.45, 0.55])
    assert spread([0.52, 0.5, 0.9], [0.1, 0.1, 0.1]) == pytest.approx([0.56, 0.46, 0.9])
    assert spread([0.0, 0.0, 1.0], [0.1, 0.1, 0.2]) == pytest.approx([0.05, 0.15, 0.9])


def test_axes_have_names_and_units_and_the_note_their_definitions():
    figure = figure_of(2)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "Goodput of all flows [Mbit/s]"
    assert any(text.get_text().startswith("Goodput of all flows [Mbit/s]: payload") for text in figure.texts)


def misplaced(figure):
    """The texts of a figure that leave its canvas, and pairs of title, legend and axes that overlap."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    (axes,) = figure.axes
    legend = axes.get_legend()
    texts = [*figure.texts, *axes.texts, axes.xaxis.label, axes.yaxis.label, *(legend.get_texts() if legend else [])]
    boxes = {each.get_text(): each.get_window_extent(renderer) for each in texts if each.get_text()}
    for axis in (axes.xaxis, axes.yaxis):
        ticks = axis._update_ticks()
        found = axis._get_ticklabel_bboxes(ticks, renderer)[0]
        boxes |= {f"tick {axis.axis_name} {index}": box for index, box in enumerate(found)}
    width, height = figure.canvas.get_width_height()
    beyond = [
        text for text, box in boxes.items() if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    names = [each.get_window_extent(renderer) for each in axes.texts if each.get_position()[0] > 1]
    beyond += (
        ["names over each other"] if any(one.overlaps(two) for one, two in itertools.combinations(names, 2)) else []
    )
    beyond += ["names over the data"] if any(each.x0 < axes.bbox.x1 for each in names) else []
    label = axes.yaxis.label.get_window_extent(renderer)
    ticks = [box for text, box in boxes.items() if text.startswith("tick y")]
    beyond += ["y label over its ticks"] if any(label.x1 > box.x0 + 1 for box in ticks) else []
    if legend is not None:
        beyond += ["legend over the data"] if legend.get_window_extent(renderer).y0 < axes.bbox.y1 - 1 else []
    return beyond


def test_an_axis_without_a_name_still_has_a_place():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = mpl.figure.Figure().add_subplot()
        name_places(axes, [])
    assert axes.get_xlim() == (-0.5, 0.5)
