"""Benchmark graphs, which are chosen by name."""

from test_bench import graphs


def test_names_with_an_edge_factor():
    assert graphs.of_rmat("rmat29x22") == (29, 22) and graphs.of_rmat("rmat29") == (29, 16)
    assert len(graphs.load("rmat5x3", "pandas")) == 96
    assert graphs.check_name("rmat20x8") is None
    assert all(graphs.check_name(name) for name in ("rmat20x0", "rmat20x", "grid20x8", "rmatx8"))
    make, n_edges = graphs.made("rmat5x3", "pandas")
    assert sum(map(len, make())) == n_edges == 96
    make, n_edges = graphs.made("grid4", "pandas")
    assert sum(map(len, make())) == n_edges == 24
