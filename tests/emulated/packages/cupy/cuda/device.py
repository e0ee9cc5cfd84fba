"""The only device."""

from __future__ import annotations

from cupy._queues import DEVICE


class Device:
    """The device; any number stands for it."""

    compute_capability = "90"
    id = 0

    def __init__(self, device: int = 0) -> None:
        """Take the number of a device, which does not matter."""

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exception: object) -> None:
        """Leave the device current, as there is no other."""

    def synchronize(self) -> None:
        DEVICE.synchronize_all()
