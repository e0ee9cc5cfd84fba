"""Real graphs that come with the package; `data/README.md` gives their sources."""

from __future__ import annotations

from pathlib import Path

from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import Frame
from rapids_trav.io import read_edges

#: Names that `load`, `path` and the command line take, and whether the edges are directed.
DIRECTED = {"facebook": False, "twitter-ego": False, "citations-hepph": True}


def names() -> list[str]:
    """Return the names of the shipped graphs.

    Examples
    --------
    >>> from rapids_trav import datasets
    >>> datasets.names()
    ['facebook', 'twitter-ego', 'citations-hepph']
    """
    return list(DIRECTED)


def path(name: str) -> Path:
    """Return the path of a shipped graph's Parquet file.

    Raises
    ------
    TravError
        If no such graph is shipped.

    Examples
    --------
    >>> from rapids_trav import datasets
    >>> datasets.path("facebook").name
    'facebook.parquet'
    """
    if not isinstance(name, str) or name not in DIRECTED:
        raise TravError(f"No data set is called {written(name)}: choose one of {', '.join(DIRECTED)}.")
    return Path(__file__).parent / "data" / f"{name}.parquet"


def load(name: str, library: str = "pandas") -> Frame:
    """Load the edges of a shipped graph as a frame with int32 columns `src` and `dst`.

    Parameters
    ----------
    name : {"facebook", "twitter-ego", "citations-hepph"}
        The first two are undirected, with each edge once; the third is directed, from the citing paper.
    library : {"pandas", "cudf"}
        Library of the frame.

    Examples
    --------
    >>> from rapids_trav import datasets
    >>> len(datasets.load("facebook"))
    88234
    """
    return read_edges(path(name), library=library)
