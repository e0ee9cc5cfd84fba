"""Every module of the package has a test module: one with its name, or the one that modules.toml names."""

import ast
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "rapids_trav"
TABLE = tomllib.loads((TESTS / "modules.toml").read_text())


def has_code(path: Path) -> bool:
    """Return whether a module holds more than a docstring."""
    return not all(isinstance(node, ast.Expr) for node in ast.parse(path.read_text(encoding="utf-8")).body)


def modules() -> list[str]:
    """Return the modules that have code as "folder/module"; a package's own code is "folder/__init__"."""
    paths = (path for path in sorted(PACKAGE.rglob("*.py")) if has_code(path))
    return [path.relative_to(PACKAGE).with_suffix("").as_posix() for path in paths]


def named_test(module: str) -> Path | None:
    """Return the test module with this name, from the matching folder of tests or a parent of that folder."""
    folder, name = Path(module).parent, Path(module).name
    if name == "__init__":
        name = folder.name
    while True:
        if (path := TESTS / folder / f"test_{name}.py").exists():
            return path
        if folder.parent in (folder, Path()):
            return None
        folder = folder.parent


@pytest.mark.parametrize("module", modules())
def test_every_module_is_tested(module):
    named = named_test(module)
    assert named or module in TABLE, f"no test for {module}: write one, or name it in tests/modules.toml"
    assert not (named and module in TABLE), f"{module} has {named}: its row in tests/modules.toml can go"


def test_the_table_has_modules_and_tests_that_exist():
    assert set(TABLE) <= set(modules())
    for file in set(TABLE.values()):
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        assert any(name.startswith("test_") for name in names), file


def test_no_two_test_modules_have_one_name():
    paths = [path for path in TESTS.rglob("*.py") if path.stem not in ("conftest", "__init__")]
    assert len({path.name for path in paths}) == len(paths)


def test_folders_are_those_of_the_package():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    others = {folder for folder in folders if not (PACKAGE / folder).is_dir()}
    assert others == {Path("benchmarks"), Path("ci"), Path("docs"), Path("emulated"), Path("gpu")}
