"""The script that draws the pictures of docs/how-it-works.md."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("write_pictures", ROOT / "ci" / "write_pictures.py")
write_pictures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(write_pictures)
PICTURES = sorted(path.stem for path in (ROOT / "docs" / "pictures").glob("*.svg"))


def test_the_page_shows_every_picture():
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(pictures/(\w+)\.svg\)", page)) == PICTURES
    assert PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn(name, tmp_path):
    write_pictures.main(["--folder", str(tmp_path), "--scale", "10", "--only", name])
    text = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert text.count("<path") > 20
