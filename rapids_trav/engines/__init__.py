"""Engines: the back ends that run searches, on the CPU (Numba) or on a GPU (CuPy), behind one interface.

`engines.interface.Engine` lists the methods and properties of an engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapids_trav.engines.interface import DeviceEngine, Engine
from rapids_trav.engines.presence import DOCTOR, cause, gpu_is_there
from rapids_trav.errors import TravError, written
from rapids_trav.tuning import Layout

__all__ = ["NAMES", "gpu_is_there", "select", "spread_over"]

NAMES = ("auto", "cpu", "cuda")


def select(name: str | Engine, frame_library: str) -> Engine:
    """Return the engine called `name`, or `name` if it is one; "auto" is "cuda" for cuDF and else "cpu"."""
    if isinstance(name, Engine):
        return name
    if not isinstance(name, str) or name not in NAMES:
        raise TravError(f"engine={written(name)} is not known: choose one of {', '.join(map(repr, NAMES))}.")
    if name == "cpu" or (name == "auto" and frame_library != "cudf"):
        from rapids_trav.engines.cpu import CpuEngine

        return CpuEngine()
    try:
        from rapids_trav.engines.cuda import CudaEngine

        engine: DeviceEngine = CudaEngine()
        n_gpus = engine.xp.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise TravError(
            f"engine='cuda' needs {error.name or 'CuPy'}, which cannot be imported ({cause(error)}): "
            f"install rapids-trav[cu13] or rapids-trav[cu12], or use engine='cpu'."
        ) from error
    except RuntimeError as error:  # raised by CUDA: no driver, an old one, no GPU
        raise TravError(
            f"engine='cuda' finds no GPU ({cause(error)}): {DOCTOR}, or use engine='cpu'."
        ) from error
    if n_gpus == 0:
        raise TravError(f"engine='cuda' finds no GPU: {DOCTOR}, or use engine='cpu'.")
    return engine


def spread_over(
    engine: Engine, devices: str | Sequence[int], *, shared: bool = False, layout: Layout | None = None
) -> Engine:
    """Return an engine on several GPUs, "all" or those named; `engine` itself if there is one GPU only.

    With `shared`, a GPU may be named several times; `layout` is that of each GPU's rows, if it is chosen.
    """
    if engine.place != "device":
        raise TravError(
            f"devices={written(devices)} is for GPUs, but the graph is on the {engine.name} engine: give a "
            f"cuDF frame or engine='cuda', or leave devices out."
        )
    from rapids_trav.engines.multigpu.devices import on_devices

    return on_devices(engine, devices, shared=shared, layout=layout)
