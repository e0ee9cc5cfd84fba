"""Hostile saved graphs: every field edited and every file replaced, with matching checksums."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rapids_trav.saved.write import HEAD, head_bytes

from . import contents
from .cases import Case
from .saved import Saved, bases, leaves, opening

DEEP: Any = json.loads("[" * 300 + "]" * 300)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**40, 1.5, float("nan"), float("inf"), "", "x", "0", "../../x",
    "/etc/passwd", "a\0b", "é\ud800", [], {}, [1], {"a": 1}, DEEP,
)  # fmt: skip


def cases(seed: int) -> Iterator[Case]:
    """Yield the systematic cases, the same for every seed, then random ones."""
    yield from systematic()
    yield from random_cases(np.random.default_rng(seed))


def systematic() -> Iterator[Case]:
    """Yield one case for each way to edit each part of a folder."""
    saved = bases()
    for base in saved:
        yield Case(f"untouched: {base.name}", opening(lambda place, base=base: base.write(place / "g")))
        yield from _heads(base)
        yield from _files(base)
    for base in saved:
        yield from _kinds_of_file(base)
    yield from _head_bytes(saved[1])


def random_cases(random: np.random.Generator) -> Iterator[Case]:
    """Yield cases with bytes, fields and files changed at random places, several at once."""
    saved = bases()
    for i in range(150):
        base = saved[i % len(saved)]
        edited, what = base, []
        for _ in range(1 + i % 3):
            edited, step = _changed(edited, random)
            what.append(step)
        run = (_written, _bounded)[i % 2](edited)
        yield Case(f"random: {base.name}, {', '.join(what)}", run)


def _written(saved: Saved, verify: bool | None = None) -> Callable[[], None]:
    return opening(lambda place: saved.write(place / "graph"), verify)


def _changed(saved: Saved, random: np.random.Generator) -> tuple[Saved, str]:
    """Return a copy with one random edit, and a description of the edit."""
    if random.integers(3) == 0:
        places = leaves(saved.head)[1:]
        place = places[random.integers(len(places))]
        try:
            return saved.edited(place, VALUES[random.integers(len(VALUES))]), f"{place} edited"
        except (KeyError, IndexError, TypeError):  # removed by an earlier edit
            return saved, "nothing"
    name = list(saved.files)[random.integers(len(saved.files))]
    content = bytearray(saved.files[name])
    for position in random.integers(0, len(content), random.integers(1, 9)):
        content[position] = random.integers(256)
    try:
        return saved.with_file(name, bytes(content)), f"bytes of {name}"
    except (KeyError, IndexError, TypeError):
        return saved, "nothing"


def _heads(base: Saved) -> Iterator[Case]:
    """Yield cases for every field of the head: values of every type, omitted, and with an extra field."""
    shared = base.name != "plain"  # the other fields of these are read like those of "plain"
    for place in leaves(base.head):
        if shared and place[:1] not in (("ids",), ("files",)):
            continue
        name = f"{base.name} {'.'.join(map(str, place)) or 'all of it'}"
        for value in VALUES[shared::2] if place[:1] == ("files",) else VALUES:
            yield Case(f"head edited: {name} = {value!r:.30}", _written(base.edited(place, value)))
        if place:
            yield Case(f"head field missing: {name}", _written(base.without(place)))
    for place in ((), ("columns",), ("ids",), ("files",), ("files", "row_offsets.npy")):
        for extra in ("extra", "crc32x", "../../secret"):
            yield Case(
                f"head field added: {base.name} {place} {extra}",
                _written(base.edited((*place, extra), {"bytes": 3, "crc32": "00000000"})),
            )
    for name in base.files:
        for other in ("../secret.npy", "/etc/passwd", "./" + name, name.upper(), name + "\0", "graph.json"):
            head = base.without(("files", name)).edited(("files", other), base.head["files"][name])
            yield Case(f"path in the head: {base.name} {name} as {other!r}", _beside_a_secret(head))
    n = base.head["n_vertices"]
    for field, values in (("n_vertices", (n - 1, n + 1, 2 * n)), ("n_edges", (1, 89, 91, 45, 180))):
        for value in values:
            for verify in (None, False):
                edited = base.edited((field,), value)
                if verify is None or field == "n_vertices":
                    yield Case(f"head counts: {base.name} {field}={value}", _written(edited, verify))


def _beside_a_secret(saved: Saved) -> Callable[[], None]:
    """Add a file outside the folder to which a path in the head leads; its size must not be revealed."""

    def make(place: Path) -> Path:
        (place / "secret.npy").write_bytes(b"s" * 7919)
        return saved.write(place / "graph")

    def run() -> None:
        try:
            opening(make)()
        except ValueError as error:
            assert "7,919" not in str(error), "the size of a file outside is told"
            raise
        raise AssertionError("a path in the head was taken")

    return run


def _files(base: Saved) -> Iterator[Case]:
    """Yield cases for every file cut, flipped and replaced; also with the old head, for its checksum."""
    random = np.random.default_rng(0)
    for name, content in base.files.items():
        for what, other in contents.broken(content, random):
            if other == content:
                continue
            yield Case(f"bytes, told: {base.name} {name} {what}", _written(base.with_file(name, other)))
            untold = replace(base, files={**base.files, name: other})
            yield Case(f"bytes, untold: {base.name} {name} {what}", _refused(untold))
        for other_name, other in base.files.items():
            if other_name != name:
                swapped = base.with_file(name, other)
                yield Case(f"file of another: {base.name} {name} as {other_name}", _written(swapped))
        if name.endswith(".npy"):
            for what, other, dtype in contents.arrays(content):
                edited = base.with_file(name, other, dtype)
                yield Case(f"array: {base.name} {name} {what}", _written(edited))
                if name != "row_offsets.npy" or base.name == "sorted":
                    yield Case(f"array, unverified: {base.name} {name} {what}", _bounded(edited))
        else:
            for what, other in contents.tables(content):
                yield Case(f"table: {base.name} {name} {what}", _written(base.with_file(name, other)))


def _refused(saved: Saved) -> Callable[[], None]:
    def run() -> None:
        _written(saved)()
        raise AssertionError("the checksum was not looked at")

    return run


def _bounded(saved: Saved) -> Callable[[], None]:
    """Check that without verification, answers may differ but no index leaves an array."""

    def run() -> None:
        with suppress(AssertionError):
            _written(saved, verify=False)()

    return run


def _kinds_of_file(base: Saved) -> Iterator[Case]:
    """Yield cases with links, pipes, devices and folders in place of each file."""

    def link(path: Path) -> None:
        path.rename(path.parent.parent / path.name)
        path.symlink_to(path.parent.parent / path.name)

    def within(path: Path) -> None:
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved").name)

    kinds: dict[str, Callable[[Path], object]] = {
        "a link out of the folder": link,
        "a link within the folder": within,
        "a link to a device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
        "a link to nowhere": lambda path: (path.unlink(), path.symlink_to("nowhere")),
        "a link to itself": lambda path: (path.unlink(), path.symlink_to(path.name)),
        "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
        "a folder": lambda path: (path.unlink(), path.mkdir()),
        "nothing": lambda path: path.unlink(),
    }
    for name in (*base.files, HEAD):
        for kind, change in kinds.items():

            def make(place: Path, name: str = name, change: Callable[[Path], object] = change) -> Path:
                folder = base.write(place / "graph")
                change(folder / name)
                return folder

            def run(make: Callable[[Path], Path] = make) -> None:
                opening(make)()
                raise AssertionError("it was taken for a file")

            yield Case(f"{kind}: {base.name} {name}", run)


def _head_bytes(base: Saved) -> Iterator[Case]:
    """Yield bytes that are not, or not quite, a valid head."""
    content = head_bytes(base.head)
    text = content.decode()
    odd = {
        "empty": b"",
        "deep list": b"[" * 100_000,
        "deep list, closed": b"[" * 100_000 + b"]" * 100_000,
        "deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "not text": b"\xff\xfe\0" + content,
        "UTF-16": text.encode("utf-16"),
        "byte order mark": b"\xef\xbb\xbf" + content,
        "digits without end": text.replace('"n_edges": 90', '"n_edges": ' + "9" * 5000).encode(),
        "a field twice": text.replace('"directed"', '"directed": true,\n  "directed"').encode(),
        "spaces": content + b" " * 1000,
        "too long": content + b" " * (1 << 24),
        "another order": json.dumps(dict(reversed(json.loads(text).items())), indent=2).encode() + b"\n",
        "one line": json.dumps(json.loads(text)).encode(),
        "NaN": text.replace('"n_edges": 90', '"n_edges": NaN').encode(),
    }
    for length in range(0, len(content), 97):
        odd[f"cut to {length}"] = content[:length]
    for position in range(0, len(content), 61):
        flipped = bytearray(content)
        flipped[position] ^= 1
        odd[f"bit flipped at {position}"] = bytes(flipped)
    for name, other in odd.items():
        make = lambda place, other=other: base.write_with(place / "graph", other)  # noqa: E731
        yield Case(f"bytes of the head: {name}", opening(make))
