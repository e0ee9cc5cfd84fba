"""Rewording of the library's messages, with options spelled as on the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

import click

# Arguments of Python that have another name on the command line.
RENAMED = {"sources": "--source", "targets": "--target", "seeds": "--seed"}
# Options whose name means something else in Python.
OTHERS = {"vertices", "output", "quiet"}
# Names that mean the option even without a `=`, as do all with an underscore: they are not words.
NO_WORDS = {"tol"}

# Advice that only Python users can follow, and its replacement.
REPHRASED = (
    (r", or add them with graph\(vertices=\.\.\.\)(?=\.$)", ""),
    (r"[,:] for example (?:with |after |edges\[)[^;]*(?=\.$)", ""),
    (r", or (?:convert it with|use) astype.*(?=\.$)", ""),
    (r": use astype\(str\) to take the values as labels(?=\.$)", ""),
    (r"; after adding a column, build the graph again(?=\.$)", ""),
    (r"\bbuild the graph again\b", "run the command again"),
    (r"\bgive a cuDF frame or (?=engine='cuda')", "give "),
    (r"\bsay header=True or header=False \(([^)]*?) on the command line\)", r"say \1"),
    (r"(?<=\bgive memory_limit at least )([\d.e+]+) (?=[kMGT]?B\.$)", r"\1"),
    (r"'?(?:[^\s']*/)?\bstandard-input\b'?", "the standard input"),
    (
        r"^(the standard input cannot be read: .*); check that it is complete and that its extension matches "
        r"its format",
        r"\1; check that it is complete and not compressed, and that --format names its format",
    ),
)

_VALUE = r"'[^']*'|\"[^\"]*\"|\[[^]]*\]|[\d.,]+ [kMGT]?B\b|\.\.\.|[\w/+-]+(?:\.\w+)*|"


def options_of(commands: Iterable[click.Command]) -> dict[str, str]:
    """Return the spelling of each option on the command line, by its name in Python."""
    options = dict(RENAMED)
    for command in commands:
        for parameter in command.params:
            if isinstance(parameter, click.Option) and parameter.name not in OTHERS:
                options[str(parameter.name).rstrip("_")] = max(parameter.opts, key=len)
    return options


def rephrased(message: str) -> str:
    """Remove advice from a message that only a Python program can follow."""
    for said, instead in REPHRASED:
        message = re.sub(said, instead, message)
    return message


def on_command_line(message: str, options: dict[str, str]) -> str:
    """Rewrite options in a message as they are typed: `memory_limit='8GB'` as `--memory-limit 8GB`."""
    message = rephrased(message)
    names = "|".join(sorted(options, key=len, reverse=True))

    def given(match: re.Match) -> str:
        option, value = options[match["name"]], match["value"]
        if value in ("", "...", "True"):
            return option
        if value == "False":
            return f"no {option}"
        quoted = value[0] in "'\""
        # The only list that is typed is one of numbers with commas between them, as of --devices.
        typed = shlex.quote(value[1:-1]) if quoted else value.replace(" ", "").strip("[]")
        return f"{option} {typed}"

    assigned = rf"(?P<name>{names})=(?P<value>{_VALUE})"
    message = re.sub(rf"\b(?:\w+\.)*\w+\({assigned}\)", given, message)
    message = re.sub(rf"(?<![\w./-]){assigned}", given, message)
    bare = [name for name in options if "_" in name or name in NO_WORDS]
    words = "|".join(sorted(bare, key=len, reverse=True))
    message = re.sub(rf"(?<![\w./'-])(?:{words})\b(?!=)", lambda match: options[match[0]], message)
    return re.sub(rf"^(?:{'|'.join(RENAMED)})\b", lambda match: options[match[0]], message)
