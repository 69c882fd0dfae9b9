"""Pictures of hit rates, the gap and sweeps, as SVG, PNG or HTML; needs ``pip install querykit[plot]``.

Chinese labels come from a font that the zhplot package carries (Noto Sans SC, Open Font License), so that
they render on a machine without Chinese fonts; in SVG and HTML they are outlines.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from querykit.lexicon import QuerykitError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from querykit.gap import Gap

FORMATS = (".svg", ".png", ".html")

BLUE, ORANGE, GREY, GREEN, RED = "#33688e", "#d97b29", "#8a8f94", "#4f8f5b", "#b5443c"
INK = "#4a4f54"

# Labels beside this many bars stay legible on one page; of longer lists the middle is left out by name, not
# in the curve.
MOST_LABELS = 48

# A term longer than this is a sentence, and would leave no room for its bar.
LONGEST_LABEL = 24


class PlotError(QuerykitError):
    """A picture that cannot be made: a missing package, or an unknown format."""


class Point(NamedTuple):
    """A mean at *x*, with its interval."""

    x: float
    mean: float
    low: float
    high: float


def new_axes(width: float = 9, height: float = 5) -> tuple[Figure, Axes]:
    """A figure and its axes with a Chinese font set, outside of pyplot, so that no window is ever opened."""
    figure, panels = new_panels(1, width, height)
    return figure, panels[0]


def new_panels(count: int, width: float = 9, height: float = 5) -> tuple[Figure, list[Axes]]:
    """A figure as in `new_axes`, with *count* axes beside each other."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise PlotError("matplotlib is not installed: pip install 'querykit[plot]'") from None
    use_chinese_font()
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    panels = figure.subplots(1, count, squeeze=False)[0]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    return figure, list(panels)


def use_chinese_font() -> None:
    """Tell matplotlib to write in Noto Sans SC, the font inside the zhplot package."""
    import importlib.util

    import matplotlib
    from matplotlib import font_manager

    spec = importlib.util.find_spec("zhplot")
    if spec is None or spec.origin is None:
        raise PlotError("zhplot, which carries the font, is not installed: pip install 'querykit[plot]'")
    font = Path(spec.origin).parent / "fonts" / "NotoSansSC-Regular.ttf"
    if not font.is_file():
        raise PlotError(f"{font}: is not there; pip install --force-reinstall zhplot")
    if not any(entry.fname == str(font) for entry in font_manager.fontManager.ttflist):
        font_manager.fontManager.addfont(str(font))
    name = font_manager.FontProperties(fname=str(font)).get_name()
    matplotlib.rcParams["font.family"] = [name, "sans-serif"]
    matplotlib.rcParams["axes.unicode_minus"] = False
    matplotlib.rcParams["text.parse_math"] = False  # $ stands in notes as it stands
    matplotlib.rcParams["svg.fonttype"] = "path"
    matplotlib.rcParams["svg.hashsalt"] = "querykit"


def drawable(text: str) -> str:
    """*text* with a mark for each character that no font here has: emoji, control characters, half a pair."""
    import matplotlib
    from matplotlib.font_manager import FontProperties, findfont, get_font

    families = matplotlib.rcParams["font.family"]
    fonts = [get_font(findfont(FontProperties(family=[name]))) for name in families]
    kept = (c if c == "\n" or any(f.get_char_index(ord(c)) for f in fonts) else "\ufffd" for c in text)
    return "".join(kept)


def _label(term: str) -> str:
    return drawable(term if len(term) <= LONGEST_LABEL else f"{term[: LONGEST_LABEL - 1]}…")


def draw_rates(axes: Axes, rates: Mapping[str, float], line: float, gap: Gap | None = None) -> None:
    """The hit rates of terms as bars, highest on top, the gap as a band, the *line* across, each term named.

    Of a long list the terms around the line are drawn, and how many were left out is said.
    """
    ordered = sorted(rates, key=lambda term: (-rates[term], term))
    start, stop = around(ordered, rates, line)
    shown = ordered[start:stop]
    values = [rates[term] for term in shown]
    places = range(len(shown))
    axes.barh(places, values, color=[ORANGE if v > line else BLUE for v in values], height=0.72)
    if gap is not None and gap.is_gap:
        axes.axvspan(gap.low, gap.high, color=GREEN, alpha=0.18, lw=0, zorder=0)
    axes.axvline(line, color=RED, lw=1.4)
    axes.text(line, -1.1, f" line {line:.0%}", color=RED, ha="left", va="bottom", fontsize=9)
    axes.set_yticks(places, [_label(term) for term in shown], fontsize=8)
    axes.set_ylim(len(shown) - 0.4, -1.2)
    axes.set_xlim(0, 1.08)
    axes.xaxis.set_major_formatter(lambda x, _place: f"{x:.0%}")
    axes.set_xlabel("hit rate: share of documents")
    for place, value in zip(places, values, strict=True):
        # White behind the figure, since the line runs through those just below it.
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        axes.text(value + 0.007, place, f"{value:.1%}", va="center", fontsize=7, color=INK, bbox=white)
    left = [f"{start} higher" if start else "", f"{len(ordered) - stop} lower" if stop < len(ordered) else ""]
    if any(left):
        said = f"not shown: {', '.join(filter(None, left))}"
        axes.text(1.08, len(shown) - 0.6, said, ha="right", fontsize=8)


def around(
    ordered: Sequence[str], rates: Mapping[str, float], line: float, most: int = MOST_LABELS
) -> tuple[int, int]:
    """The part of the terms, *ordered* by falling rate, to show: *most* of them, the line in the middle.

    >>> around(["a", "b", "c", "d"], {"a": .9, "b": .5, "c": .3, "d": .1}, .4, most=2)
    (1, 3)
    """
    above = sum(rates[term] > line for term in ordered)
    start = max(0, min(above - most // 2, len(ordered) - most))
    return start, min(start + most, len(ordered))


def draw_sorted(axes: Axes, rates: Mapping[str, float], line: float, gaps: Sequence[Gap] = ()) -> None:
    """All hit rates as a falling curve, with the line and what each method found."""
    values = sorted(rates.values(), reverse=True)
    axes.step(range(1, len(values) + 1), values, where="mid", color=BLUE, lw=1.3)
    axes.plot(range(1, len(values) + 1), values, ".", color=BLUE, ms=3.5)
    for gap, colour in zip(gaps, (GREEN, ORANGE, GREY), strict=False):
        label = f"{gap.method}: {gap.low:.1%} … {gap.high:.1%}{'' if gap.is_gap else ' (no gap)'}"
        axes.axhspan(gap.low, gap.high, color=colour, alpha=0.22, lw=0, label=label)
    axes.axhline(line, color=RED, lw=1.2, label=f"line {line:.0%}")
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(lambda y, _place: f"{y:.0%}")
    axes.set_xlabel("terms, the most frequent first")
    axes.set_ylabel("hit rate")
    axes.legend(fontsize=8, frameon=False)


def draw_bands(
    axes: Axes, curves: Mapping[str, Sequence[Point]], *, xlabel: str, ylabel: str, mark: float | None = None
) -> None:
    """Curves with their intervals as bands, and a mark at one place of the x axis."""
    colours = (BLUE, ORANGE, GREEN, RED, GREY)
    for (name, points), colour in zip(curves.items(), colours * 3, strict=False):
        xs = [p.x for p in points]
        axes.plot(xs, [p.mean for p in points], color=colour, lw=1.6, label=name)
        low, high = [p.low for p in points], [p.high for p in points]
        axes.fill_between(xs, low, high, color=colour, alpha=0.13, lw=0)
    if mark is not None:
        axes.axvline(mark, color=GREY, lw=1, ls=":")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend(fontsize=8, frameon=False)


def draw_intervals(axes: Axes, rows: Mapping[str, Point], *, xlabel: str, mark: float | None = None) -> None:
    """A mean with its interval for each name, the first on top."""
    places = range(len(rows))
    points = list(rows.values())
    spread = [[p.mean - p.low for p in points], [p.high - p.mean for p in points]]
    axes.errorbar([p.mean for p in points], places, xerr=spread, fmt="o", color=BLUE, ms=4, lw=1.2, capsize=2)
    if mark is not None:
        axes.axvline(mark, color=GREY, lw=1, ls=":")
    axes.set_yticks(places, list(rows), fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(xlabel)


def save(figure: Figure, path: Path, *, title: str = "", rows: Sequence[tuple[str, ...]] = ()) -> None:
    """Write *figure* as the suffix of *path* says; HTML is one file with the picture and *rows* as a table.

    Raises `PlotError` for other formats and places that cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise PlotError(f"{path}: pictures are {', '.join(FORMATS)}; name a file that ends so")
    try:
        if suffix == ".html":
            path.write_text(_page(figure, title, rows), encoding="utf-8", errors="backslashreplace")
        else:
            figure.savefig(path, metadata={"Date": None} if suffix == ".svg" else None)
    except OSError as error:
        raise PlotError(f"{path}: cannot be written ({error.strerror or error})") from None


def _page(figure: Figure, title: str, rows: Sequence[tuple[str, ...]]) -> str:
    drawn = StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    picture = drawn.getvalue()
    body: list[str] = [f"<h1>{html.escape(title)}</h1>", picture[picture.index("<svg") :]]
    if rows:
        head, *rest = rows
        body.append("<table>" + _row(head, "th") + "".join(_row(row, "td") for row in rest) + "</table>")
    return _FRAME.format(title=html.escape(title), body="\n".join(body))


def _row(cells: Sequence[Any], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>\n"


_FRAME = """<!doctype html>
<html lang="zh"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font-family:sans-serif;max-width:70em;margin:2em auto}} svg{{max-width:100%;height:auto}}
td,th{{padding:.15em .8em;text-align:left}} tr:nth-child(even){{background:#f3f5f7}}</style></head>
<body>{body}</body></html>
"""
