"""Checks before the work starts: invalid options, and files that cannot or must not be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from rapids_trav.errors import TravError
from rapids_trav.io import check_output


@contextmanager
def wrong_option() -> Iterator[None]:
    """Report errors that the library raises within the block as wrong usage."""
    try:
        yield
    except TravError as error:
        raise click.UsageError(str(error)) from error


def check_files(edges: tuple[str, ...], output: str | None, picture: str | None = None) -> None:
    """Refuse an output name that cannot be written, or that is a file of the edges."""
    if "" in (output, picture):
        raise click.UsageError("The name of a file to write is empty: name one, or leave the option out.")
    with wrong_option():
        if output not in (None, "-"):
            check_output(output)
        if picture:
            from rapids_trav import (
                plot,  # importing matplotlib takes half a second, which other commands avoid
            )

            plot.check_picture(picture)
    for given in edges:
        source = Path(given).resolve()
        for name in (output, picture):
            path = Path(name).resolve() if name and name != "-" else None
            if path is not None and (path == source or (source.is_dir() and source in path.parents)):
                raise click.UsageError(f"{name} is where the edges are, in {given}: write to another place.")


def check_apart(output: str | None, other: str | None, option: str) -> None:
    """Refuse a second result with the same destination as the first."""
    places = [name if name == "-" else Path(name).resolve() for name in (output, other) if name is not None]
    if len(places) == 2 and places[0] == places[1]:
        raise click.UsageError(f"{option} {other} is where --output goes: write to another place.")


def refuse_given(names: tuple[str, ...], reason: str) -> None:
    """Refuse these options of the command if they were given."""
    asked = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    for option in asked.command.params:
        if option.name in names and asked.get_parameter_source(option.name) is not default:
            negated = option.secondary_opts and not asked.params.get(option.name)
            name = (option.secondary_opts if negated else option.opts)[0]
            raise click.UsageError(f"{name} is for {reason}: leave it out.")
