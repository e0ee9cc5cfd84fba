"""Paths with a character that no file name can have are refused with a message, wherever they are given."""

import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.io import read_edges, write_frame
from rapids_trav.saved.write import is_saved_graph

FRAME = pd.DataFrame({"src": [0], "dst": [1]})


@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=["null character", "lone surrogate"])
@pytest.mark.parametrize(
    "ask",
    [
        Graph.from_edges,
        lambda name: Graph.from_edges([name, name]),
        read_edges,
        lambda name: write_frame(FRAME, f"{name}.csv"),
        is_saved_graph,
    ],
    ids=["edges", "several", "read", "write", "saved"],
)
def test_a_character_that_no_name_can_have(ask, name):
    with pytest.raises(
        TravError, match="has a character that no file name can have: use another path"
    ) as error:
        ask(name)
    said = str(error.value)
    assert repr(name)[1:-1] in said and "\n" not in said
    said.encode()
