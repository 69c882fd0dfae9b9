"""Pictures: Chinese labels render from the font that comes along, in each format, the same bytes each time."""

from __future__ import annotations

import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from querykit.gap import METHODS, find_gap
from querykit.plots import (
    FORMATS,
    PlotError,
    Point,
    around,
    draw_bands,
    draw_intervals,
    draw_rates,
    draw_sorted,
    drawable,
    new_axes,
    new_panels,
    save,
)

RATES = {"用的": 0.9, "音乐生成": 0.43, "工作流": 0.38, "角色一致性": 0.18, "Suno": 0.12, "無此詞": 0.0}


def picture() -> Figure:
    figure, axes = new_axes(6, 3)
    draw_rates(axes, RATES, 0.4, find_gap(RATES))
    return figure


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_format_is_written_without_a_missing_glyph(suffix: str, tmp_path: Path) -> None:
    """Matplotlib warns of each glyph that a font lacks, and warnings are errors here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(picture(), tmp_path / f"p{suffix}", title="音乐 <b>", rows=[("term", "rate"), ("工作流", "38%")])
    data = (tmp_path / f"p{suffix}").read_bytes()
    assert len(data) > 5000
    if suffix == ".png":
        assert data.startswith(b"\x89PNG")
    else:
        assert b"<svg" in data
    if suffix == ".svg":
        ElementTree.fromstring(data)
    if suffix == ".html":
        assert "<td>工作流</td>" in data.decode()
        assert "音乐 &lt;b&gt;" in data.decode()
        assert b"<script" not in data


def test_labels_come_from_the_font_that_is_shipped() -> None:
    figure = picture()
    labels = figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == list(RATES)
    assert {label.get_fontname() for label in labels} == {"Noto Sans SC"}


def test_labels_are_outlines_so_that_no_font_is_needed(tmp_path: Path) -> None:
    save(picture(), tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert "<text" not in text
    assert "NotoSans" in text  # the names of the outlines


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_the_same_picture_is_the_same_file(suffix: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        save(picture(), tmp_path / (name + suffix))
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_a_format_in_capitals_is_that_format(tmp_path: Path) -> None:
    save(picture(), tmp_path / "p.PNG")
    assert (tmp_path / "p.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["p.jpg", "p", "no-folder/p.svg", "no-folder/p.html"])
def test_other_formats_and_places_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PlotError, match=name):
        save(picture(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_drawn_is_marked_and_sentences_are_cut() -> None:
    _, axes = new_axes()
    assert drawable("茶 é\n🎵\x1b\ud800") == "茶 é\n\ufffd\ufffd\ufffd"
    draw_rates(axes, {"问" * 60: 0.5}, 0.4)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["问" * 23 + "…"]


def test_no_label_lies_on_another() -> None:
    many = {f"第{i:02}个词": i / 90 for i in range(1, 90)}
    figure, axes = new_axes(9, 1.6 + 0.19 * 48)
    draw_rates(axes, many, 0.4)
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    boxes.sort(key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in zip(boxes, boxes[1:], strict=False))


@pytest.mark.parametrize("rates", [{}, {"茶": 1.0}, {"茶": 0.0}, {"$\\frac$": 0.5, "a<b>&": 0.3}])
def test_odd_rates_can_be_drawn(rates: dict[str, float], tmp_path: Path) -> None:
    figure, axes = new_axes()
    draw_rates(axes, rates, 0.4)
    save(figure, tmp_path / "p.html", rows=[("term",), *((term,) for term in rates)])


def test_the_middle_of_a_long_list_is_shown() -> None:
    rates = {f"t{i:03}": 1 - i / 200 for i in range(200)}
    ordered = list(rates)
    assert around(ordered, rates, 0.4, most=10) == (115, 125)
    assert around(ordered, rates, 1.0, most=10) == (0, 10)
    assert around(ordered, rates, 0.001, most=10) == (190, 200)
    assert around([], {}, 0.4) == (0, 0)


def test_curves_with_bands_and_intervals(tmp_path: Path) -> None:
    figure, panels = new_panels(3, 12, 4)
    points = [Point(x / 10, 0.5, 0.4, 0.6) for x in range(5)]
    draw_sorted(panels[0], RATES, 0.4, [find_gap(RATES, method) for method in METHODS])
    draw_bands(panels[1], {"降后": points, "删除": points}, xlabel="线", ylabel="召回", mark=0.4)
    draw_intervals(panels[2], {"整句": points[0], "关键词": points[1]}, xlabel="召回", mark=0)
    save(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").stat().st_size > 5000
