"""Arguments of the generators and of the shipped data sets are checked at the call."""

import numpy as np
import pytest

from rapids_trav import TravError, TravMemoryError, datasets, generators


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (generators.rmat, {"scale": 4}),
        (generators.rmat_frames, {"scale": 4}),
        (generators.grid, {"rows": 3, "columns": 4}),
        (generators.path, {"n_vertices": 5}),
        (generators.star, {"n_vertices": 5}),
    ],
)
@pytest.mark.parametrize(
    "value", [-1, 1.5, 4.0, "4", None, True, np.True_, [4], 2**63, pytest.param(10**5000, id="huge")]
)
def test_what_is_no_number_of_anything(function, arguments, value):
    numbers = [*arguments, *(["edge_factor", "seed"] if "scale" in arguments else [])]
    for name in numbers:
        with pytest.raises(TravError, match=rf"{name}=.* is not accepted: give an integer from 0 to "):
            function(**{**arguments, name: value})
    with pytest.raises(TravError, match=r"library=.* is not known: choose one of 'pandas', 'cudf'\.$"):
        function(**arguments, library=value)


def test_scales_and_rows():
    with pytest.raises(TravError, match=r"scale=33 .* from 0 to 32"):
        generators.rmat(33)
    with pytest.raises(TravError, match=r"rows=0 .* from 1 to"):
        generators.rmat_frames(4, rows=0)
    assert len(generators.rmat(np.int8(4), np.uint16(2))) == 32
    assert len(generators.rmat(4, seed=2**63 - 1)) == 256


@pytest.mark.parametrize(
    "make",
    [
        lambda: generators.rmat(32, 2**20),
        lambda: generators.rmat_frames(32, 2**20, rows=2**50),
        lambda: generators.grid(10**10, 10**10),
        lambda: generators.path(10**15),
        lambda: generators.star(10**15),
    ],
)
def test_graphs_that_no_memory_holds(make):
    with pytest.raises(TravMemoryError, match="of memory are free"):
        make()


@pytest.mark.parametrize("make", [generators.path, generators.star, lambda n: generators.grid(n, n)])
def test_graphs_without_edges(make):
    assert len(make(0)) == len(make(1)) == 0


@pytest.mark.parametrize("name", [[], {}, None, 3, "nope", b"facebook"])
def test_names_of_data_sets(name):
    for function in (datasets.load, datasets.path):
        with pytest.raises(TravError, match="No data set is called"):
            function(name)
    with pytest.raises(TravError, match="library="):
        datasets.load("facebook", library=name)
