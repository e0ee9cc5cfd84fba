"""The tables and the figure of docs/scale.md, made from counted rows and any measured ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.harness import Row, markdown, number
from benchmarks.scale.law import (
    COSTS,
    Law,
    connected,
    held_out,
    holds,
    least_ranks,
    of_row,
    predict,
    written,
)
from benchmarks.workers.searches import DEFAULT

LAYOUTS = {"1d": "one column", "2d": "squarest grid", "hosts": "a column a host"}
SHOWN_RANKS = (2, 8, 64, 512, 4096, 8192)
LEVELS_OF = 64  # number of ranks whose levels are shown
LAW_RANKS = (8, 64, 512, 4096, 8192)
NEEDED = (28, 30, 32, 34, 36, 38, 40, 42)
SHOWN_GRIDS = ((38, (64, 64)), (38, (128, 64)), (40, (256, 256)))
TABLES_OF_SEARCHES = ("claims", "grids", "strong scaling", "weak scaling")
COLORS = {"1d": "#7f7f7f", "2d": "#76b900", "hosts": "#1f77b4"}


@dataclass(frozen=True)
class Rows:
    """Rows of `scale_model`, and of searches measured by benchmarks/workers/main.py."""

    counted: Sequence[Row]
    measured: Sequence[Row]

    @property
    def full_scale(self) -> int:
        """Largest scale that was counted for the most ranks."""
        most = max(row["ranks"] for row in self.counted)
        return max(row["scale"] for row in self.counted if row["ranks"] == most)

    def of(self, **wanted: object) -> list[Row]:
        return [row for row in self.counted if all(row[key] == value for key, value in wanted.items())]


def counted(rows: Rows) -> list[str]:
    body = []
    for ranks in SHOWN_RANKS:
        for layout, label in LAYOUTS.items():
            for row in rows.of(scale=rows.full_scale, ranks=ranks, layout=layout):
                body.append(
                    [
                        f"{ranks:,}, {label}",
                        row["grid"],
                        f"{row['messages']:,}",
                        number(row["mb_a_rank"]),
                        number(row["mb_most"]),
                        number(row["mb_off_host"]) if row["ranks"] > 8 else "-",
                        number(row["lists_over_auto"]),
                        number(row["edge_imbalance"]),
                    ]
                )
    head = [
        f"scale {rows.full_scale}: ranks", "grid", "messages a level", "MB a rank", "MB, most",
        "MB off a host", "lists over auto", "edges, most over mean",
    ]  # fmt: skip
    return markdown(head, body)


def levels(rows: Rows) -> list[str]:
    layouts = {
        layout: rows.of(scale=rows.full_scale, ranks=LEVELS_OF, layout=layout)[0] for layout in ("1d", "2d")
    }
    body = []
    for one, two in zip(layouts["1d"]["by_level"], layouts["2d"]["by_level"], strict=True):
        kinds = [one["expand_mb"], one["candidates"], two["expand_mb"], two["fold_mb"], two["candidates"]]
        body.append([str(one["level"]), *(f"{k:,}" if isinstance(k, int) else number(k) for k in kinds)])
    grids = {layout: row["grid"] for layout, row in layouts.items()}
    head = [
        f"scale {rows.full_scale}, {LEVELS_OF} ranks: level", f"MB gathered, {grids['1d']}",
        "vertices claimed", f"MB gathered, {grids['2d']}", "MB folded", "vertices claimed",
    ]  # fmt: skip
    return markdown(head, body)


def law(rows: Rows) -> list[str]:
    scales = sorted({row["scale"] for row in rows.counted})
    told = Law(rows.counted)
    body = []
    for ranks in LAW_RANKS:
        for layout, label in LAYOUTS.items():
            found = {row["scale"]: row for row in rows.of(ranks=ranks, layout=layout)}
            grid = next(iter(found.values()))["grid"] if found else None
            shape = told.shapes.get((grid, ranks))
            if shape is None:
                continue
            cells = [
                number(of_row(found[scale])[0]) if scale in found and scale in shape.scales else "-"
                for scale in scales
            ]
            body.append([f"{ranks:,}, {label}", *cells, number(shape.n_bytes)])
    return markdown(["bytes a vertex", *(f"scale {scale}" for scale in scales), "the law"], body)


def errors(rows: Rows) -> list[str]:
    found = held_out(rows.counted)
    body = []
    for layout, label in LAYOUTS.items():
        off = [100 * (told / row["mb_a_rank"] - 1) for row, told in found if row["layout"] == layout]
        if off:
            worst = max(off, key=abs)
            body.append([label, str(len(off)), f"{fmean(map(abs, off)):.1f}%", f"{worst:+.1f}%"])
    return markdown(
        [f"scale {found[0][0]['scale']}, from the smaller ones", "grids", "mean error", "largest"], body
    )


def costs(rows: Rows) -> list[str]:
    lines = [["spent on", "takes", "source"], ["---", "---", "---"]]
    lines += [[cost.what, cost.written, cost.source] for cost in COSTS.values()]
    return ["| " + " | ".join(line) + " |" for line in lines]


def needed(rows: Rows) -> list[str]:
    told = Law(rows.counted)
    body = []
    for scale in NEEDED:
        ranks, grid, why = least_ranks(scale)
        body.append(
            [str(scale), f"{ranks:,}", written(grid), *_held(scale, grid), why, *_seconds(told, scale, grid)]
        )
    head = [
        "scale", "GPUs", "grid", *_HELD, "GB in all", "as many because of", *_SECONDS,
    ]  # fmt: skip
    return markdown(head, body)


def at_forty(rows: Rows) -> list[str]:
    told = Law(rows.counted)
    body = []
    for scale, grid in SHOWN_GRIDS:
        seconds = predict(told, scale, grid)
        assert seconds is not None
        body.append(
            [
                f"scale {scale} on {grid[0] * grid[1]:,} H100, predicted",
                number(1e3 * seconds.total),
                number(1e3 * seconds.communication),
                f"{_round(seconds.gteps(scale)):,}",
                number(seconds.gteps(scale) / (grid[0] * grid[1])),
            ]
        )
    record = 16 * 2.0**41 / 410e12
    body.append(
        ["scale 41 on 8,192 H100, published", number(1e3 * record), "-", "410,000", number(410e3 / 8192)]
    )
    body.append(["the seed system on 4,096 K20X, published", "-", "-", "830", number(830 / 4096)])
    return markdown(["", "ms a search", "of it communication", "GTEPS", "GTEPS a GPU"], body)


def too_few(rows: Rows) -> list[str]:
    """Return a table of what a rank would hold at scale 40 with the GPUs of the record."""
    body = []
    for grid in ((128, 64), (8, 1024), (8192, 1), (256, 256)):
        ids = max(grid) * (connected(40) / (grid[0] * grid[1]))
        body.append([f"{grid[0] * grid[1]:,}, {written(grid)}", *_held(40, grid), number(ids / 2**31)])
    return markdown(["GPUs", *_HELD, "GB in all", "local ids over 2^31"], body)


def measured(rows: Rows) -> list[str]:
    told = Law(rows.counted)
    body, seen = [], set()
    for row in rows.measured:
        key = (row.get("graph"), row.get("workers"), row.get("grid"))
        chosen = row.get("table") in TABLES_OF_SEARCHES and row.get("name") == DEFAULT and "median_ms" in row
        if not chosen or key in seen:
            continue
        seen.add(key)
        scale = int(row["graph"].removeprefix("rmat"))
        grid = tuple(int(part) for part in row["grid"].split(" x "))
        seconds = predict(told, scale, grid)
        shape = told.shape(grid)
        predicted = None if shape is None else shape.n_bytes * connected(scale) / row["workers"] / 1e6
        body.append(
            [
                f"scale {scale}, {_gpus(row)}, {row['grid']}",
                number(row["median_ms"]),
                number(seconds and 1e3 * seconds.total),
                number(row.get("mb_a_rank")),
                number(predicted),
            ]
        )
    if not body:
        return ["No measured rows yet: `python -m benchmarks workers --json FILE` writes them on GPUs."]
    return markdown(
        ["graph, GPUs, grid", "ms measured", "ms predicted", "MB a rank", "MB predicted"], sorted(body)
    )


def choices(rows: Rows) -> list[str]:
    """List each other way to claim, to send or to choose a direction beside the default (B1, B2)."""
    body = [
        [
            f"scale {row['graph'].removeprefix('rmat')}, {_gpus(row)}, {row['grid']}",
            row["name"],
            number(row["median_ms"]),
            number(row["over_default"]),
            number(row["mb_a_rank"]),
        ]
        for row in _with_times(rows, "claims", "exchange", "direction")
        if row["name"] != DEFAULT or row["table"] == "claims"
    ]
    return markdown(["graph, GPUs, grid", "search", "ms", "over the default", "MB a rank"], body)


def whole_calls(rows: Rows) -> list[str]:
    """List whole calls from the client, and builds, beside cuGraph's."""
    body = [
        [
            f"scale {row['graph'].removeprefix('rmat')}, {_gpus(row)}",
            f"{row['table'].removesuffix('s')}: {row['name']}",
            number(row["median_ms"]),
            number(row.get("returned_ms")),
            number(row.get("peak_over_input")),
        ]
        for row in _with_times(rows, "build", "whole calls")
    ]
    return markdown(["graph, GPUs", "", "ms", "ms until it returns", "peak memory over the input"], body)


def _gpus(row: Row) -> str:
    """Return how many GPUs measured a row, and of which kind."""
    kind = (row.get("card") or "GPU").removeprefix("NVIDIA ").split()[0]
    return f"{row['workers']} {kind}"


def _with_times(rows: Rows, *tables: str) -> list[Row]:
    """Return the rows of some tables that have times; of a measurement that was repeated, the latest."""
    latest = {
        tuple(row.get(key) for key in _MEASUREMENT): row
        for row in rows.measured
        if row.get("table") in tables and "median_ms" in row
    }
    return list(latest.values())


_MEASUREMENT = ("graph", "card", "workers", "grid", "table", "name")
_HELD = ("GB of edges", "offsets", "claims", "frontier")
_SECONDS = ("ms: levels", "messages", "bytes", "edges", "in all", "GTEPS")


def _held(scale: int, grid: tuple[int, int]) -> list[str]:
    parts = holds(scale, grid)
    shown = [parts[name] for name in ("edges", "offsets", "claims and predecessors", "frontier")]
    return [number(n_bytes / 1e9) for n_bytes in (*shown, sum(parts.values()))]


def _seconds(told: Law, scale: int, grid: tuple[int, int]) -> list[str]:
    found = predict(told, scale, grid)
    if found is None:
        return ["-"] * len(_SECONDS)
    parts = (found.levels, found.messages, found.inside + found.between, found.edges, found.total)
    return [*(number(1e3 * one) for one in parts), f"{_round(found.gteps(scale)):,}"]


def _round(value: float) -> int:
    """Round to two significant digits, the precision of a prediction."""
    return int(float(f"{value:.2g}"))


TABLES: dict[str, Callable[[Rows], list[str]]] = {
    "counted": counted,
    "levels": levels,
    "law": law,
    "held-out": errors,
    "costs": costs,
    "measured": measured,
    "choices": choices,
    "whole-calls": whole_calls,
    "needed": needed,
    "too-few": too_few,
    "scale-40": at_forty,
}


def draw(rows: Rows) -> Figure:
    """Draw megabytes by ranks, the law by scale, and the prediction by ranks."""
    figure = Figure(figsize=(15, 4.4), layout="constrained")
    bytes_axes, law_axes, time_axes = figure.subplots(1, 3)
    _draw_bytes(bytes_axes, rows)
    _draw_law(law_axes, rows)
    _draw_prediction(time_axes, rows)
    return figure


def _draw_bytes(axes: Axes, rows: Rows) -> None:
    for layout, label in LAYOUTS.items():
        found = [row for row in rows.of(scale=rows.full_scale, layout=layout) if row["ranks"] > 1]
        axes.loglog(*_points(found, "ranks", "mb_a_rank"), "o-", color=COLORS[layout], label=label)
    axes.set(
        xlabel="ranks",
        ylabel="MB that a rank sends in a search",
        title=f"R-MAT scale {rows.full_scale}, counted",
    )
    axes.legend()


def _draw_law(axes: Axes, rows: Rows) -> None:
    told = Law(rows.counted)
    for ranks in (64, 512, 4096):
        for layout in ("2d", "1d"):
            found = rows.of(ranks=ranks, layout=layout)
            shape = told.shapes.get((found[0]["grid"], ranks)) if found else None
            if shape is None:
                continue
            found = [row for row in found if row["scale"] in shape.scales]
            axes.semilogy(
                [row["scale"] for row in found], [of_row(row)[0] for row in found], "o", color=COLORS[layout]
            )
            axes.axhline(shape.n_bytes, color=COLORS[layout], linewidth=0.8)
            # Labels of lines close to each other are above one and below the other.
            axes.annotate(
                found[0]["grid"], (1.01, shape.n_bytes), xycoords=("axes fraction", "data"), fontsize=7,
                va="bottom" if layout == "1d" else "top",
            )  # fmt: skip
    axes.set(
        xlabel="scale",
        ylabel="bytes for each vertex with an edge, all ranks",
        title="counted, and the law",
    )


def _draw_prediction(axes: Axes, rows: Rows) -> None:
    told = Law(rows.counted)
    found = []
    for scale in range(28, 43):
        ranks, grid, _ = least_ranks(scale)
        seconds = predict(told, scale, grid)
        if seconds:
            found.append((ranks, seconds, scale))
    for name, bottom in _stacked([one for _, one, _ in found]):
        heights, starts = bottom
        axes.bar([str(scale) for _, _, scale in found], heights, bottom=starts, label=name)
    for place, (ranks, seconds, _) in enumerate(found):
        top = (place, 1e3 * seconds.total)
        axes.annotate(
            f"{ranks:,}", top, (0, 2), textcoords="offset points", fontsize=7, rotation=90, ha="center",
            va="bottom",
        )  # fmt: skip
    axes.margins(y=0.15)  # room for the numbers
    axes.set(
        xlabel="scale, on the fewest GPUs that hold it",
        ylabel="ms a search, predicted",
        title="GPUs above the bars",
    )
    axes.legend()


def _stacked(found: Sequence) -> Iterator[tuple[str, tuple[list[float], list[float]]]]:
    starts = [0.0] * len(found)
    for name, of in (
        ("edges", lambda one: one.edges),
        ("bytes", lambda one: one.inside + one.between),
        ("messages", lambda one: one.messages),
        ("levels", lambda one: one.levels),
    ):
        heights = [1e3 * of(one) for one in found]
        yield name, (heights, starts)
        starts = [start + height for start, height in zip(starts, heights, strict=True)]


def _points(rows: Sequence[Row], x: str, y: str) -> tuple[list, list]:
    return [row[x] for row in rows], [row[y] for row in rows]
