"""Every causal architecture of transformers, tiny and random: Strop's numbers are its own, or it is refused."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def page_script() -> ModuleType:
    """docs/models.py as a module."""
    sys.path.insert(0, str(DOCS))
    try:
        spec = importlib.util.spec_from_file_location("models_page", DOCS / "models.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["models_page"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(DOCS))


page = page_script()
configs = page.tiny_configs()
written = {line.split("`")[1]: line for line in page.PAGE.read_text().splitlines() if line.startswith("| `")}


def test_the_page_has_every_architecture_and_no_difference() -> None:
    rows = {name: line for name, line in written.items() if name in configs}
    assert rows.keys() == configs.keys()
    assert len(rows) >= 40
    assert page.SILENT not in page.PAGE.read_text()
    assert sum("refused" in line for line in rows.values()) <= 3


@pytest.mark.train(6)
@pytest.mark.parametrize("name", configs)
def test_a_row_is_what_the_page_says(name: str) -> None:
    """Where it is not: python docs/models.py."""
    assert str(page.row(name, configs[name])) == written[name]
