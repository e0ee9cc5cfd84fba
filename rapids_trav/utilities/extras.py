"""Imports of optional libraries, with an error that names the extra if they are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rapids_trav.errors import TravError


@contextmanager
def needed_for(what: str, library: str, extra: str) -> Iterator[None]:
    """Import `library` in a block for the work called `what`; if it is missing, refuse with its extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise TravError(
            f"{what} needs {library}, which is not installed: run pip install 'rapids-trav[{extra}]'."
        ) from error
