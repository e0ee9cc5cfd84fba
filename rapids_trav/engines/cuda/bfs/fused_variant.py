"""The fused search as a variant of the engine, with a workspace for each stream."""

from __future__ import annotations

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.fused import Workspace, bfs_fused
from rapids_trav.engines.cuda.runtime.streams import StreamKey, current_key
from rapids_trav.engines.interface import BfsOptions, Search, View

DEFAULT_STREAMS = (0, 1)  # the null stream, under both of its names


class FusedVariant:
    """The fused search on CuPy's current stream; for the parameters see `CudaEngine`."""

    def __init__(self, hub_degree: int | None, least_pull: int) -> None:
        self._hub_degree, self._least_pull = hub_degree, least_pull
        self._workspaces: dict[StreamKey, Workspace] = {}

    def __call__(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from `sources` in one launch; see `bfs_fused`."""
        return bfs_fused(
            view,
            sources,
            options,
            self.workspace(),
            hub_degree=self._hub_degree,
            least_pull=self._least_pull,
        )

    def workspace(self) -> Workspace:
        """Return the workspace of the current stream."""
        key = current_key()
        if (workspace := self._workspaces.get(key)) is None:
            # There may be any number of other streams, each for one search: they keep no memory.
            workspace = self._workspaces.setdefault(key, Workspace(keeps=key.ptr in DEFAULT_STREAMS))
        return workspace
