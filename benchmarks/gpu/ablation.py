"""B3, B4, B5, B8: effect of each part of VS-Graph500, alone and together, and of the textbook frontiers.

Parts: sorting the vertices by degree, neighbours in that order, pruning isolated vertices, bitmaps in words,
a cache of the hubs' frontier bits, the choice of direction, one launch for all levels.  Each is omitted
alone, and all together.  "Isolated vertices kept" gives the graph every id below 2^scale as a vertex.
Without bitmaps, the bottom-up steps of a search with a launch for each level look up distances.
"Rates" sets the published ones beside ours.

Times are those of the device: the host's part of a small search would hide the effect of a part.  For a
search with a launch for each level they include the waits for the host (`waits_for_host`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmarks import graphs
from benchmarks.gpu.checks import Checker
from benchmarks.gpu.variants import phase_times
from benchmarks.harness import Row, of_rates, of_times, ratio, short
from rapids_trav.engines.interface import BfsOptions

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat22", "rmat24")
HUB_DEGREE = 100  # vertices of at least this degree are in the hub cache


@dataclass(frozen=True)
class Setup:
    """One combination of the parts."""

    name: str
    degree_sort: bool = True
    pruned: bool = True
    hub_degree: int | None = None
    variant: str = "auto"
    policy: str = "gap"
    ordered: bool = True  # whether neighbours are, like the vertices
    bitmaps: bool = True


SETUPS = (
    Setup("default"),
    Setup("with hub cache", hub_degree=HUB_DEGREE),
    Setup("neighbours in no order", ordered=False),
    Setup("optimising, a launch a level", variant="direction"),
    Setup("that, without bitmaps", variant="direction", bitmaps=False),
    Setup("push only, a launch a level", variant="direction", policy="push"),
    Setup("privatised frontier", variant="private"),
    Setup("plain frontier", variant="frontier"),
    Setup("no degree sort", degree_sort=False),
    Setup("isolated vertices kept", pruned=False),
    Setup("neither sorted nor pruned", degree_sort=False, pruned=False),
    Setup("everything off: that, plain frontier", degree_sort=False, pruned=False, variant="frontier"),
)
OPTIMISING, PUSHING = "optimising, a launch a level", "push only, a launch a level"
# Claim, the setup with the part, the setup without it, and the published figure.
CLAIMS = (
    ("B3: degree sort and pruning", "default", "neither sorted nor pruned", "over 2"),
    ("degree sort alone", "default", "no degree sort", ""),
    ("pruning alone", "default", "isolated vertices kept", ""),
    ("neighbours in order alone", "default", "neighbours in no order", ""),
    ("bitmaps in words alone", OPTIMISING, "that, without bitmaps", ""),
    ("B4: hub cache, over the sort", "with hub cache", "default", "up to 1.3"),
    ("B8: privatised over plain frontier", "privatised frontier", "plain frontier", ""),
    ("B8: direction-optimising over push", OPTIMISING, PUSHING, ""),
    ("one launch over a launch a level", "default", OPTIMISING, ""),
    ("all together", "default", SETUPS[-1].name, ""),
)
# Name, nodes, scale and GTEPS of VS-Graph500 and of what it replaced (B5).
PUBLISHED = (("VS-Graph500", 904, 37, 2547.13), ("before VS-Graph500", 904, 37, 2061.48))
SORTS: dict[str, dict[str, Any]] = {
    "radix": {"degree_sort": True, "tuning": {"sort": "radix"}},
    "merge": {"degree_sort": True, "tuning": {"sort": "merge"}},
    "none": {"degree_sort": False},
}
TABLES = {
    "parts": (
        "graph", "name", "roots", "min_ms", "median_ms", "max_ms", "worst_over_median", "gteps_harmonic_mean",
        "share_of_default", "edges_examined", "waits_for_host", "checked", "wrong", "note",
    ),
    "claims": ("graph", "claim", "ratio_of_gteps", "published"),
    "rates": ("graph", "name", "nodes", "scale", "gteps_harmonic_mean", "gteps_a_node"),
    "sort back ends": (
        "graph", "name", "renumber_ms", "degree_sort_ms", "adjacency_ms", "build_ms", "sort_share_of_build",
    ),
}  # fmt: skip


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    rates: dict[str, float] = {}
    yield from parts(lab, name, edges, lab.roots(edges), rates)
    yield from claims(rates)
    yield from published(name, rates)
    yield from sorts(lab, edges)


def parts(
    lab: Lab, name: str, edges: Any, roots: Sequence[int], rates: dict[str, float]
) -> Iterator[tuple[str, Row]]:
    """Yield a row for each setup; setups that search the same graph share it.  Fills `rates`, by setup."""
    graph, built = None, None
    for setup in SETUPS:
        if built != (setup.degree_sort, setup.pruned):
            graph = None  # freed before the next one is built
            graph, built = build(lab, name, edges, setup), (setup.degree_sort, setup.pruned)
            checker = Checker(lab, graph, edges)
        row = search(lab, graph, checker, setup, roots)
        rates[setup.name] = row["gteps_harmonic_mean"]
        yield "parts", {**row, "share_of_default": ratio(rates[setup.name], rates["default"])}


def build(lab: Lab, name: str, edges: Any, setup: Setup) -> Graph:
    vertices = None if setup.pruned else lab.every_id(graphs.n_ids(name, *lab.ends(edges)))
    return lab.graph(edges, degree_sort=setup.degree_sort, vertices=vertices)


def search(lab: Lab, graph: Graph, checker: Checker, setup: Setup, roots: Sequence[int]) -> Row:
    options = BfsOptions(variant=setup.variant, policy=setup.policy, hub_degree=setup.hub_degree)
    engine = lab.engine(setup.bitmaps)
    view = None if setup.ordered else unordered(lab, graph)
    contender = lab.ours(graph, options, name=setup.name, engine=engine, view=view)
    checker.restart()
    ms = lab.device_timings(contender, roots, checker)
    traced = lab.ours(graph, replace(options, trace=True), engine=engine, view=view)
    levels = traced.run(traced.prepare(roots[0])).trace
    return {
        "name": setup.name,
        **of_times(ms),
        **of_rates(ms, checker.traversed(roots[: len(ms)])),
        "edges_examined": sum(level.edges for level in levels),
        "waits_for_host": contender.waits,
        **checker.verdict(),
    }


def claims(rates: dict[str, float]) -> Iterator[tuple[str, Row]]:
    for claim, with_it, without, published in CLAIMS:
        quotient = ratio(rates.get(with_it), rates.get(without))
        yield "claims", {"claim": claim, "ratio_of_gteps": quotient, "published": published}


def published(name: str, rates: dict[str, float]) -> Iterator[tuple[str, Row]]:
    """Yield the published rates and ours, each also by its number of nodes."""
    scale = (graphs.of_rmat(name) or (None,))[0]
    ours = [(f"ours, {setup}", 1, scale, rates[setup]) for setup in ("default", "with hub cache")]
    for name_of_row, nodes, of_scale, rate in (*PUBLISHED, *ours):
        figures = {"gteps_harmonic_mean": rate, "gteps_a_node": short(rate / nodes)}
        yield "rates", {"name": name_of_row, "nodes": nodes, "scale": of_scale, **figures}


def sorts(lab: Lab, edges: Any) -> Iterator[tuple[str, Row]]:
    """Yield the phases of a build with each sort, after one to warm up."""
    for back_end, how in SORTS.items():
        lab.graph(edges, **how)
        graph = lab.graph(edges, **how)
        whole = sum(graph.build_times.values())
        share = short(graph.build_times.get("degree sort", 0.0) / whole)
        row = {"name": back_end, **phase_times(graph), "build_ms": short(1e3 * whole)}
        yield "sort back ends", {**row, "sort_share_of_build": share}
        del graph


def unordered(lab: Lab, graph: Graph) -> graphs.OneAdjacency:
    """Return the rows of an undirected graph, each in random order."""
    xp, rows = lab.xp, graph.storage.view("out").out
    edges = graph.engine.expand_rows(rows)
    order = xp.argsort(xp.random.default_rng(lab.seed).random(rows.n_edges))
    order = order[xp.argsort(edges.src[order], kind="stable")]
    return graphs.OneAdjacency(lab.adjacency(rows.row_offsets, edges.dst[order]))
