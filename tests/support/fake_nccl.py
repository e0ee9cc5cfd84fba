"""Stand-ins for the parts of NCCL and CuPy that the communicator uses, over NumPy arrays, without a GPU.

An enqueued message moves when a caller asks whether it is done, as if the device worked by itself.  A group
sent to a rank that never posts its own stays undone, as with NCCL.
"""

from __future__ import annotations

import ctypes
import threading
from collections import defaultdict, deque
from types import SimpleNamespace

import numpy as np


class DeviceArray(np.ndarray):
    """NumPy array with a device pointer, as CuPy's arrays have."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self)


def on_device(array) -> DeviceArray:
    return np.array(array).view(DeviceArray)


class Fabric:
    """State that all ranks of a job share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.boxes: dict = defaultdict(deque)  # (from, to) -> messages
        self.local = threading.local()

    def modules(self, size: int):
        """Return stand-ins for the modules `cupy` and `cupy.cuda.nccl`."""
        fabric = self

        class NcclCommunicator:
            def __init__(self, n_ranks, unique_id, rank):
                assert (n_ranks, unique_id) == (size, b"id")
                self.rank, self.state = rank, "open"
                fabric.local.pending, fabric.local.depth = [], 0

            def send(self, pointer, count, kind, peer, stream):
                assert fabric.local.depth == 1
                assert kind == nccl.NCCL_INT8
                with fabric.lock:
                    fabric.boxes[self.rank, peer].append(ctypes.string_at(pointer, count))

            def recv(self, pointer, count, kind, peer, stream):
                assert fabric.local.depth == 1

                def step():
                    box = fabric.boxes[peer, self.rank]
                    if not box:
                        return False
                    message = box.popleft()
                    assert len(message) == count
                    ctypes.memmove(pointer, message, count)
                    return True

                fabric.local.pending.append(step)

            def abort(self):
                assert self.state == "open"
                self.state = "aborted"

            def destroy(self):
                assert self.state == "open"
                self.state = "destroyed"

        class Event:
            def __init__(self, disable_timing):
                assert disable_timing

            def record(self, stream):
                pass

            @property
            def done(self):
                with fabric.lock:
                    fabric.local.pending = [step for step in fabric.local.pending if not step()]
                return not fabric.local.pending

        def group(step):
            fabric.local.depth += step

        nccl = SimpleNamespace(
            NcclCommunicator=NcclCommunicator,
            NcclError=RuntimeError,
            NCCL_INT8=0,
            groupStart=lambda: group(1),
            groupEnd=lambda: group(-1),
        )
        cupy = SimpleNamespace(
            asarray=on_device,
            empty=lambda length, dtype: on_device(np.empty(length, dtype)),
            empty_like=lambda array: on_device(np.empty_like(array)),
            ascontiguousarray=lambda array: on_device(np.ascontiguousarray(array)),
            cuda=SimpleNamespace(Event=Event, get_current_stream=lambda: SimpleNamespace(ptr=0)),
        )
        return cupy, nccl
