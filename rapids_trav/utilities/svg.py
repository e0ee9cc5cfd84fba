"""Small SVG pictures for notebooks, in the colour of the text around them: bars, and points in layers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

from rapids_trav.utilities.figures import is_uneven, shares

BAR_WIDTH, BAR_HEIGHT = 26, 80  # pixels
WIDEST = 900  # pixels of all bars; more of them are narrower
COLUMN, ROW, MARGIN = 130, 22, 40
HEAD = 40  # above layers: the number of each, and its points
RADIUS = 5
LETTERS = 14  # of a name; longer ones are cut
LETTER_WIDTH = 6
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b")


def bars(heights: Sequence[int], labels: Sequence[str], title: str) -> str:
    """Return a picture of labelled bars over a title, which says if the scale is logarithmic."""
    log = is_uneven(heights)
    title += " (log scale)" if log else ""
    step = min(BAR_WIDTH, (WIDEST - LETTER_WIDTH) / max(len(heights), 1))
    labelled = math.ceil(BAR_WIDTH / step)  # every so many bars
    shapes = []
    for i, (height, share, label) in enumerate(zip(heights, shares(heights, log), labels, strict=True)):
        x, tall = i * step, BAR_HEIGHT * share
        shapes.append(
            f'<rect x="{x:g}" y="{BAR_HEIGHT - tall + 6:.1f}" width="{0.9 * step:g}" height="{tall:.1f}" '
            f'fill="{COLORS[1]}"><title>{text_of(label)}: {height:,}</title></rect>'
        )
        if i % labelled == 0:
            middle = x + 0.45 * step
            shapes.append(
                f'<text x="{middle:g}" y="{BAR_HEIGHT + 18}" text-anchor="middle">{text_of(label)}</text>'
            )
    shapes.append(f'<text x="0" y="{BAR_HEIGHT + 34}">{text_of(title)}</text>')
    width = max(len(heights) * step + LETTER_WIDTH, LETTER_WIDTH * len(title))  # the last label may be wide
    return _picture(width, BAR_HEIGHT + 40, shapes, title)


def positions(counts: Sequence[int]) -> list[tuple[float, float]]:
    """Return the coordinates of points in layers from left to right, each centred; layer after layer."""
    middle = max(counts, default=0) / 2
    return [
        (layer * COLUMN, (i - count / 2 + middle) * ROW)
        for layer, count in enumerate(counts)
        for i in range(count)
    ]


def layers(
    names: Sequence[Sequence[str]], totals: Sequence[int], lines: Iterable[tuple[int, int]], title: str
) -> str:
    """Return a picture of named points in layers, with each layer's total and lines."""
    at = [(x + MARGIN, y + HEAD + ROW / 2) for x, y in positions([len(layer) for layer in names])]
    shapes = [
        f'<path d="{_line(at[u], at[v])}" fill="none" stroke="currentColor" stroke-opacity="0.25"/>'
        for u, v in lines
    ]
    points = iter(at)
    for i, layer in enumerate(names):
        shapes += [
            f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{COLORS[i % len(COLORS)]}">'
            f"<title>{text_of(name)}</title></circle>"
            f'<text x="{x + RADIUS + 3}" y="{y + 4}">{text_of(short(name))}</text>'
            for name, (x, y) in zip(layer, points, strict=False)
        ]
        x = MARGIN + i * COLUMN - RADIUS
        shown = "" if len(layer) == totals[i] else f", {len(layer):,} shown"
        shapes.append(f'<text x="{x}" y="{HEAD - 24}" font-weight="bold">{i}</text>')
        shapes.append(f'<text x="{x}" y="{HEAD - 10}">{totals[i]:,}{shown}</text>')
    tallest = max(map(len, names), default=0)
    return _picture(max(len(names), 1) * COLUMN + MARGIN, tallest * ROW + HEAD + MARGIN, shapes, title)


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return a straight line between layers, and a bow to the left within one."""
    out = min(abs(end[1] - start[1]), COLUMN) / 2
    bow = f"Q {start[0] - out:g} {(start[1] + end[1]) / 2:g}" if start[0] == end[0] else "L"
    return f"M {start[0]:g} {start[1]:g} {bow} {end[0]:g} {end[1]:g}"


def short(name: str) -> str:
    """Return a name on one line, cut where it is long."""
    name = " ".join(name.split())
    return name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"


def text_of(name: str) -> str:
    """Return a name as text of a document, with marks in place of characters that none may contain."""
    return escape(NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", name))


def _picture(width: float, height: float, shapes: Sequence[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{text_of(title)}" font-size="11" '
        f'font-family="sans-serif" fill="currentColor">{"".join(shapes)}</svg>'
    )
