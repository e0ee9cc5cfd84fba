"""Errors of CUDA."""


class CUDARuntimeError(RuntimeError):
    """Report a failure of a kernel or of a call of the runtime."""

    status = 719  # cudaErrorLaunchFailure
