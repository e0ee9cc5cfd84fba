"""Route the nets of a small chip: breadth-first search through a grid with blocked cells.

    python examples/maze_routing.py [picture.png]

A net joins two pins by the shortest way through free cells, and its wire then blocks the nets after it.  This
is C. Y. Lee, "An Algorithm for Path Connections and Its Applications" (IRE Transactions on Electronic
Computers, 1961), with which "Programming Massively Parallel Processors" opens its chapter on graph traversal.

A cell is a vertex with a two-column id, its row and its column.  Cells that touch are joined by an edge.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import rapids_trav  # noqa: F401  registers .trav

ROWS, COLUMNS = 18, 40
BLOCKS = [
    (2, 4, 9, 7),
    (2, 14, 5, 12),
    (10, 12, 6, 5),
    (9, 20, 7, 9),
    (2, 30, 10, 6),
]  # row, column, height, width
NETS = {"A": ((1, 1), (13, 38)), "B": ((16, 2), (8, 28)), "C": ((8, 12), (14, 30)), "D": ((0, 39), (15, 1))}


def free_cells() -> np.ndarray:
    """True where a wire may go: everywhere but under the chip's blocks."""
    free = np.ones((ROWS, COLUMNS), dtype=bool)
    for row, column, height, width in BLOCKS:
        free[row : row + height, column : column + width] = False
    return free


def grid_edges(free: np.ndarray) -> pd.DataFrame:
    """An edge between each free cell and its free neighbours to the right and below."""
    row, column = np.nonzero(free[:, :-1] & free[:, 1:])
    right = pd.DataFrame({"row": row, "column": column, "to_row": row, "to_column": column + 1})
    row, column = np.nonzero(free[:-1] & free[1:])
    below = pd.DataFrame({"row": row, "column": column, "to_row": row + 1, "to_column": column})
    return pd.concat([right, below], ignore_index=True)


def route(free: np.ndarray, start: tuple[int, int], end: tuple[int, int]) -> np.ndarray | None:
    """Cells from `start` to `end`, one (row, column) each; None if there is no way."""
    graph = grid_edges(free).trav.graph(["row", "column"], ["to_row", "to_column"], vertices=[start, end])
    path = graph.paths(start, end, deterministic=True)
    if path["step"].isna().any():
        return None
    return path[["vertex_0", "vertex_1"]].to_numpy(dtype=np.int64)


def route_all() -> dict[str, np.ndarray | None]:
    """The wire of each net; earlier nets are in the way of later ones, and so are all other pins."""
    free = free_cells()
    for pins in NETS.values():
        for pin in pins:
            free[pin] = False
    wires = {}
    for name, (start, end) in NETS.items():
        free[start] = free[end] = True
        wire = route(free, start, end)
        free[start] = free[end] = False
        if wire is not None:
            free[wire[:, 0], wire[:, 1]] = False
        wires[name] = wire
    return wires


def as_text(wires: dict[str, np.ndarray | None]) -> str:
    """The chip with # for blocks and a net's small letter for its wire, its capital for the pins."""
    cells = np.where(free_cells(), ".", "#")
    for name, wire in wires.items():
        if wire is not None:
            cells[wire[:, 0], wire[:, 1]] = name.lower()
        for pin in NETS[name]:
            cells[pin] = name
    return "\n".join("".join(row) for row in cells)


def draw(wires: dict[str, np.ndarray | None], picture: str) -> None:
    """Draw the same as a picture; needs matplotlib, which the extra `plot` brings."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    axes.imshow(~free_cells(), cmap="Greys", vmax=2)
    for name, wire in wires.items():
        if wire is not None:
            axes.plot(wire[:, 1], wire[:, 0], linewidth=3, label=f"net {name}, {len(wire) - 1} steps")
        for row, column in NETS[name]:
            axes.text(
                column,
                row,
                name,
                ha="center",
                va="center",
                weight="bold",
                bbox={"facecolor": "white", "pad": 2},
            )
    axes.set(xticks=np.arange(COLUMNS) + 0.5, yticks=np.arange(ROWS) + 0.5, xticklabels=[], yticklabels=[])
    axes.grid(alpha=0.3)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(wires))
    figure.savefig(picture, dpi=120)


def main(picture: str | None = None) -> None:
    wires = route_all()
    print(as_text(wires))
    for name, wire in wires.items():
        print(f"net {name}: {'no way' if wire is None else f'{len(wire) - 1} steps'}")
    if picture is not None:
        draw(wires, picture)
        print(f"drawn in {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
