"""Actions to run right after another module is imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(name: str, action: Callable[[], None]) -> None:
    """Call `action` once the module called `name` has been imported: now, if it already is."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Watch(name, action))


class _Watch(MetaPathFinder):
    """Finder of one module that delegates to the other finders and acts after the module's code has run."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                return self._watched(spec)
        return None

    def _watched(self, spec: ModuleSpec) -> ModuleSpec:
        loader: Any = spec.loader
        if not hasattr(loader, "exec_module"):  # a plain folder of that name
            return spec
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._action()

        loader.exec_module = exec_module
        return spec
