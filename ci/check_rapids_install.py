"""Check, without a GPU, that the accessor registers on the real classes of cuDF and dask-cudf.

    python ci/check_rapids_install.py

Each order of imports is tried in a separate process: `rapids_trav` first, and last.  Requires the
`compare-cu12` or `compare-cu13` extra.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

ORDERS = ("rapids_trav, cudf, dask_cudf", "cudf, dask_cudf, rapids_trav", "cudf, rapids_trav, dask_cudf")

CHECK = """
import {order}
import dask.dataframe

accessor = rapids_trav.accessor.TravAccessor
assert cudf.DataFrame.trav is accessor, cudf.DataFrame.trav
collection = dask.dataframe.DataFrame
assert collection.trav is accessor, collection.trav
frame_classes = [dask_cudf.DataFrame]
assert all(cls.trav is accessor for cls in frame_classes), frame_classes
"""

LIGHT = """
import sys, rapids_trav
heavy = [name for name in ("cudf", "cupy", "dask", "rmm", "cugraph") if name in sys.modules]
assert not heavy, f"import rapids_trav imports {heavy}"
"""


def main() -> int:
    for name in ("cudf", "dask-cudf", "cugraph", "pylibcugraph", "rmm"):
        versions = [find(f"{name}-{extra}") for extra in ("cu13", "cu12")]
        print(f"{name} {next(filter(None, versions), 'is not installed')}")
    codes = [run("import rapids_trav alone imports no GPU package", LIGHT)]
    codes += [run(f"import {order}", CHECK.format(order=order)) for order in ORDERS]
    return max(codes)


def find(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def run(what: str, code: str) -> int:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False)
    print(f"{'FAILED' if done.returncode else 'ok'}: {what}", flush=True)
    return int(done.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
