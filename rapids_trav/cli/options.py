"""Options of the command line, with the defaults and choices of the classes that define the library's."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import reduce
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click

from rapids_trav.tuning import BuildTuning, RunTuning, SearchTuning

Given = Any  # the value of an option, as click passes it
Command = TypeVar("Command", bound=Callable[..., object])


def derived(
    kind: type, name: str, *short: str, help: str | None = None, **settings: Given
) -> Callable[[Command], Command]:
    """Return a decorator for the option `name` of an options class, which is a flag if it is boolean."""
    default = default_of(kind, name)
    spelled = f"--{name.replace('_', '-')}"
    if choices := choices_of(kind, name):
        settings.setdefault("type", click.Choice(choices))
    if default is True:
        return click.option(f"--no-{spelled[2:]}", name, *short, flag_value=False, default=True, help=help)
    if default is False:
        return click.option(spelled, name, *short, is_flag=True, help=help)
    if default is not None:
        settings.setdefault("show_default", True)
        settings.setdefault("type", type(default))
    return click.option(spelled, name, *short, default=default, help=help, **settings)


def applied(*options: Callable) -> Callable[[Command], Command]:
    """Return a decorator that gives a command these options, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def default_of(kind: type, name: str) -> object:
    """Return the default of an option."""
    found = {field.name: field.default for field in fields(kind)}[name]
    if found is MISSING:
        raise ValueError(f"{kind.__name__} has no default for {name}.")
    return found


def choices_of(kind: type, name: str) -> tuple[str, ...]:
    """Return the choices of an option whose type is a `Literal`, optional or not; else an empty tuple."""
    hint = get_type_hints(kind)[name]
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    literal = [part for part in kinds if get_origin(part) is Literal]
    others = [part for part in kinds if get_origin(part) is not Literal and part is not NoneType]
    return get_args(literal[0]) if literal and not others else ()


def taken(kind: type, given: dict[str, Given]) -> dict[str, Given]:
    """Remove the options of one class from those given to a command, and return them."""
    return {field.name: given.pop(field.name) for field in fields(kind) if field.name in given}


def gpus(context: click.Context, parameter: click.Parameter, value: str | None) -> str | list[int] | None:
    """Return "all", or the numbers of GPUs that are given with commas between them."""
    if value is None or value == "all":
        return value
    parts = value.split(",")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise click.UsageError(
            f"--devices {shlex.quote(value)} does not name GPUs: give their numbers, such as 0,1, or all."
        )
    return [int(part) for part in parts]


def tuning_of(
    kind: type[BuildTuning | SearchTuning | RunTuning], given: dict[str, Given]
) -> dict[str, Given] | None:
    """Remove the settings of one class from those given to a command; return them, None if there are none."""
    named = {name: value for name, value in taken(kind, given).items() if value is not None}
    return named or None
