"""Check that NetworkX knows the backend, which it reads from the metadata of installed packages."""

import pytest


@pytest.fixture(autouse=True)
def declared():
    nx = pytest.importorskip("networkx")
    installed = "trav" in nx.utils.backends.backends
    assert installed, (
        "rapids-trav was installed before it had the backend: pip install -e '.[test]' once more"
    )
