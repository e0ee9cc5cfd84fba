"""Count of `Any`: it includes every use in code and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "ci" / "count_any.py"
spec = importlib.util.spec_from_file_location("count_any", SCRIPT)
count_any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(count_any)


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("from typing import Any\nimport typing as t  # Any\n", 0),
        ('"""Any value."""\nx = "Any"\nif any([x]): y = Anything\n', 0),
        ("def f(x: Any, *y: list[Any], z: int = 0, **more: t.Any) -> dict[str, Any]: ...", 4),
        ("async def f() -> Any: ...", 1),
        ("x: Any = 1\nArray = Any\ny = cast(Any, x)", 3),
        ("def f(x: 'Any | Many', y: \"dict[Any, 'Any']\") -> 'Any': ...\nx: 'Any'", 5),
        ("async def f() -> 'Any': ...\ny = cast('Any', x)", 2),
        ("class A:\n    def f(self, call: Callable[..., Any]) -> None:\n        y: list[Any] = []", 2),
    ],
)
def test_uses_are_counted(source, number):
    assert count_any.count(source) == number


@pytest.fixture
def package(tmp_path):
    """Return a package of four files with 1, 2, 3 and 0 uses of `Any`."""
    for name, uses in {"top.py": 1, "a/one.py": 2, "a/b/two.py": 3, "a/none.py": 0}.items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from typing import Any\n" + "x: Any\n" * uses)
    return tmp_path / "package"


def test_rows_are_folders_or_files(package, capsys):
    assert count_any.main([str(package)]) == 0
    assert capsys.readouterr().out.split() == ["5", "package/a", "1", "package/top.py", "6", "in", "all"]
    assert count_any.main([str(package), "--files"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[:2] == [["3", "package/a/b/two.py"], ["2", "package/a/one.py"]]


@pytest.mark.parametrize(("most", "code"), [(6, 0), (5, 1), (0, 1)])
def test_more_than_allowed(package, capsys, most, code):
    assert count_any.main([str(package), "--most", str(most)]) == code
    assert ("more than" in capsys.readouterr().err) == bool(code)
