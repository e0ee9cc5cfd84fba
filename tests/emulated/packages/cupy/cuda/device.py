"""Devices, all of which are this CPU."""

from __future__ import annotations

from cupy._devices import current_device, use_device
from cupy._queues import DEVICE


class Device:
    """A device: the current one, or the one of a number."""

    compute_capability = "90"

    def __init__(self, device: int | None = None) -> None:
        self.id = current_device() if device is None else device
        self._before: list[int] = []

    def __enter__(self) -> Device:
        self._before.append(current_device())
        use_device(self.id)
        return self

    def __exit__(self, *exception: object) -> None:
        use_device(self._before.pop())

    def use(self) -> None:
        use_device(self.id)

    def synchronize(self) -> None:
        DEVICE.synchronize_all()
