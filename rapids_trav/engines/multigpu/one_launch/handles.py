"""Memory of ranks in other processes, which a rank opens by handles, and of ranks in other threads.

The numbers of GPUs differ between processes: dask-cuda rotates CUDA_VISIBLE_DEVICES, and a container may show
a single GPU.  So GPUs are identified by their UUID, and a rank finds out whether it can access another's
memory by opening it.  A process cannot open its own handles; ranks in threads of one process use each other's
addresses directly.
"""

from __future__ import annotations

import os
import uuid
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cupy

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.multigpu.one_launch.peers import reach_each_other
from rapids_trav.errors import TravError, first_line

_BOOT = Path("/proc/sys/kernel/random/boot_id")  # the same in all containers of a host
_TOKEN = uuid.uuid4().hex  # made by the import, so that all threads have the same one


@dataclass(frozen=True)
class Card:
    """Description of a rank's memory, from which the other ranks can open it.

    Attributes
    ----------
    host, process : str
        Names of the host and the process, each different from all others.
    gpu : str
        UUID and place of the GPU.
    device : int
        Number of the GPU in its process.
    address : int
        Address of the memory in its process.
    handle : bytes
        Handle of the memory for other processes.
    """

    host: str
    process: str
    gpu: str
    device: int
    address: int
    handle: bytes

    @classmethod
    def of(cls, memory: Array) -> Card:
        """Return the card for memory on the current GPU that `peers.reachable` allocated.

        Raises
        ------
        TravError
            If CUDA gives no handle for it.
        """
        runtime = cupy.cuda.runtime
        try:
            handle = runtime.ipcGetMemHandle(memory.data.ptr)
        except runtime.CUDARuntimeError as error:
            raise TravError(f"CUDA gives no handle for memory of this GPU ({first_line(error)})") from error
        return cls(_host(), _process(), gpu(), runtime.getDevice(), memory.data.ptr, bytes(handle))


class Opened:
    """The memory of all ranks, as the current GPU reaches it, until `close` or the end of this object.

    Parameters
    ----------
    cards : sequence of Card
        One for each rank.
    rank : int
        The rank that opens the memory of the others.

    Raises
    ------
    TravError
        If the memory of another rank cannot be reached; its message is a reason, in lower case.
    """

    def __init__(self, cards: Sequence[Card], rank: int) -> None:
        opened: list[int] = []
        self.close = weakref.finalize(self, _close, opened, cards[rank].device)
        self.close.atexit = False  # the process gives its memory back by itself, and CUDA may be gone
        self.addresses = [card.address for card in cards]
        for number, card in enumerate(cards):
            if card.process == cards[rank].process:
                if card.device != cards[rank].device:
                    reach_each_other((card.device, cards[rank].device))
                continue
            if card.host != cards[rank].host:
                raise TravError(f"rank {number} is on another host than rank {rank}")
            try:
                address = cupy.cuda.runtime.ipcOpenMemHandle(card.handle)
            except cupy.cuda.runtime.CUDARuntimeError as error:
                raise TravError(
                    f"rank {rank} cannot open the memory of rank {number} ({first_line(error)})"
                ) from error
            opened.append(address)
            self.addresses[number] = address


def gpu() -> str:
    """Return the UUID and the place of the current GPU."""
    runtime = cupy.cuda.runtime
    found = runtime.getDeviceProperties(runtime.getDevice())
    place = ":".join(f"{found.get(name, 0):x}" for name in ("pciDomainID", "pciBusID", "pciDeviceID"))
    return f"{bytes(found['uuid']).hex()} at {place}"


def _close(opened: list[int], device: int) -> None:
    with cupy.cuda.Device(device):
        while opened:
            cupy.cuda.runtime.ipcCloseMemHandle(opened.pop())


def _host() -> str:
    return _BOOT.read_text().strip() if _BOOT.is_file() else os.uname().nodename


def _process() -> str:
    """Return a name of this process, whose number may occur twice, in different containers."""
    return f"{os.getpid()} {_TOKEN}"
