"""Every variant of the search against cugraph.bfs and pylibcugraph.bfs: distances equal, trees valid.

The graphs are small; compiling the kernels takes most of the time.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import rapids_trav

from .cugraph_oracle import REAL, SHAPES, Case, Ids, check_tree, found_by_us

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cugraph_libraries")]

VARIANTS = ("auto", "push", "pull", "edge", "frontier", "private", "direction", "fused")
EVERY_LEVEL = ("push", "pull", "edge")  # read the whole graph on every level
NUMBERS = Ids("int32")
BOTH = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


@functools.cache
def case(name: str, directed: bool) -> Case:
    return Case(name, directed)


@functools.cache
def our_graph(name: str, directed: bool, kind: str = "int32", pulling: bool = False):
    import cudf

    from rapids_trav.engines.cuda import CudaEngine

    ids, edges = Ids(kind), case(name, directed).edges
    frame = cudf.DataFrame(dict(zip(("src", "dst"), map(ids.of, edges), strict=True)))
    return frame.trav.graph(directed=directed, engine=CudaEngine(least_pull=0) if pulling else "auto")


@functools.cache
def expected(name: str, directed: bool, *sources: int) -> np.ndarray:
    """Return cuGraph's distances, and check that its two interfaces agree on them."""
    distance = case(name, directed).bfs(list(sources))
    assert np.array_equal(distance, case(name, directed).bare_bfs(list(sources)))
    return distance


def check(name, directed, sources, variant, kind="int32", pulling=False) -> None:
    ids, here = Ids(kind), case(name, directed)
    graph = our_graph(name, directed, kind, pulling)
    found = graph.bfs(list(ids.of(np.array(sources))), variant=variant)
    distance, predecessor = found_by_us(here, ids, found)
    assert np.array_equal(distance, expected(name, directed, *sources))
    check_tree(here, list(sources), distance, predecessor)


def test_all_variants_are_compared(engine):
    assert set(VARIANTS) == set(engine.variants)


@BOTH
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SHAPES)
def test_every_variant(name, directed, variant):
    for source in case(name, directed).sources(2):
        check(name, directed, (source,), variant)


@BOTH
@pytest.mark.parametrize("variant", ["auto", "fused"])
@pytest.mark.parametrize("name", SHAPES)
def test_the_fused_search_pulls_as_soon_as_the_ratio_says(name, directed, variant):
    for source in case(name, directed).sources(3):
        check(name, directed, (source,), variant, pulling=True)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", REAL)
def test_real_graphs(name, variant):
    directed = rapids_trav.datasets.DIRECTED[name]
    for source in case(name, directed).sources(3):
        check(name, directed, (source,), variant)
        if variant == "fused":
            check(name, directed, (source,), variant, pulling=True)


@BOTH
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", ["int64", "string"])
@pytest.mark.parametrize("name", ["rmat1", "disconnected", "loops"])
def test_other_kinds_of_ids(name, directed, kind, variant):
    for source in case(name, directed).sources(2):
        check(name, directed, (source,), variant, kind=kind)


@BOTH
@pytest.mark.parametrize("limit", [1, 2, 5, 1000])
@pytest.mark.parametrize("variant", VARIANTS)
def test_depth_limits(variant, limit, directed):
    for name in ("rmat1", "grid", "disconnected"):
        here, graph = case(name, directed), our_graph(name, directed)
        (source,) = here.sources(1)
        found = graph.bfs(source, variant=variant, depth_limit=limit)
        distance, predecessor = found_by_us(here, NUMBERS, found)
        assert np.array_equal(distance, here.bfs([source], depth_limit=limit))
        check_tree(here, [source], distance, predecessor)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_depth_limit_of_0_is_no_search_and_to_cugraph_no_limit(variant):
    here, graph = case("grid", False), our_graph("grid", False)
    distance, _ = found_by_us(here, NUMBERS, graph.bfs(0, variant=variant, depth_limit=0))
    assert np.flatnonzero(distance >= 0).tolist() == [0]
    assert np.array_equal(here.bfs([0], depth_limit=0), here.bfs([0]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_sources_in_components_of_their_own(variant):
    """cuGraph accepts one source for each component."""
    name = "disconnected"
    labels = our_graph(name, False).components().to_pandas()
    firsts = labels.groupby("component")["vertex"].max().tolist()
    assert len(firsts) > 20
    for sources in (firsts[:2], firsts[1::3], firsts):
        check(name, False, tuple(sources), variant)
