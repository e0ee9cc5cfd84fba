"""Joint choice of the ranks' device, CPU or GPU, and the connection between GPUs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from rapids_trav.errors import TravError

if TYPE_CHECKING:
    from rapids_trav.engines.multigpu.communicator import Communicator
    from rapids_trav.engines.multigpu.tcp import TcpCommunicator

Device = Literal["cpu", "cuda"]


def has_gpu() -> bool:
    """Return whether this process can use cuDF frames on a GPU."""
    if find_spec("cudf") is None or find_spec("cupy") is None:
        return False
    import cupy

    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:  # no driver, or no device
        return False


def connect_devices(control: TcpCommunicator, wanted: str | None) -> tuple[Device, Communicator]:
    """Return the device that the ranks work on and their communicator; every rank calls it.

    Parameters
    ----------
    control : TcpCommunicator
        The ranks' TCP connection, which they keep beside NCCL if they work on GPUs.
    wanted : {"cpu", "cuda"} or None
        With None the ranks work on GPUs if every rank has one.
    """
    if wanted == "cpu":
        return "cpu", control
    (with_gpu,) = control.sum([has_gpu()])
    if with_gpu < control.size:
        if wanted == "cuda":
            raise TravError(
                f"{with_gpu} of {control.size} workers have a GPU with cuDF and CuPy: start all of them with "
                "dask-cuda, or search on the CPUs, with partitions of pandas frames or without engine='cuda'."
            )
        return "cpu", control
    return "cuda", _connect_gpus(control)


def _connect_gpus(control: TcpCommunicator) -> Communicator:
    """Return NCCL's connection, or one through the host if ranks share a GPU, which NCCL refuses."""
    from rapids_trav.engines.multigpu.one_launch.peers import gpu

    gpus = control.gather_objects(gpu())
    if len(set(gpus)) < len(gpus):
        from rapids_trav.engines.multigpu.staged import StagedCommunicator

        return StagedCommunicator(control)
    from cupy.cuda import nccl

    from rapids_trav.distributed.session.guarded_nccl import GuardedNccl

    first = control.gather_objects(nccl.get_unique_id() if control.rank == 0 else None)[0]
    return GuardedNccl(first, control)
