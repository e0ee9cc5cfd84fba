"""Random numbers."""

from cupy._creation import Generator


def default_rng(seed: int | None = None) -> Generator:
    return Generator(seed)
