"""What the heads of recipes say of GPUs and hours is what the plan of memory and the model of scale say."""

import pytest
from benchmarks.needs import needs_of, time_of
from benchmarks.rehearse import RECIPES


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_heads_say_what_the_plan_says(path) -> None:
    said = next(line for line in path.read_text().splitlines() if line.startswith("# Needs: "))
    computed = needs_of(path)
    assert computed is None or said.removeprefix("# Needs: ").partition(";")[0] == computed, (
        "benchmarks/needs.py --write"
    )
    assert computed or "CPU cores" in said
    time = next(line for line in path.read_text().splitlines() if line.startswith("# Time: "))
    assert time_of(path) is None or time.endswith(str(time_of(path))), "benchmarks/needs.py --write"
