"""The libraries of a run: their availability and the names of their settings."""

from __future__ import annotations

from importlib import import_module

PACKAGES = ("cupy", "rmm", "cudf", "pylibcugraph", "cugraph")


def unavailable() -> str | None:
    """Return why the benchmark cannot run here, in a sentence, or None."""
    for name in PACKAGES:
        try:
            import_module(name)
        except ImportError as error:
            return (
                f"This needs {name}, which cannot be imported ({error}): "
                f"install rapids-trav[cu13] or rapids-trav[cu12]."
            )
    from rapids_trav.utilities.machine import find_driver

    return None if find_driver().gpus else "No GPU was found here; rapids-trav doctor tells more."


def rival_name(optimizing: bool, renumber: bool = False) -> str:
    """Return pylibcugraph's name in rows, with `direction_optimizing`, on our vertex order or its own."""
    return f"pylibcugraph optimizing={optimizing}{', own order' if renumber else ''}"
