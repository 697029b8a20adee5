"""What is dumped reads back as the same recipe, whatever the text in it."""

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.scale import most

from strop.config.load import dump_recipe, load_recipe
from strop.config.schema import Recipe
from strop.config.yaml12 import Dumper, read_yaml

TRICKY = st.sampled_from(
    [
        *(
            "no",
            "on",
            "~",
            "null",
            "1e-6",
            "0o7",
            "1:30",
            "=",
            "<<",
            "true",
            ".inf",
            "2020-01-01",
            "{}",
            "#",
            "a: b",
        ),
        *("${", "${a}", r"\${a}", r"\\${", "$", "\\", "'", '"', "- a", " x ", "é", "𝄞"),
        *("\n", "a\n\nb\n", "\t", "\x1b", "\x85", "\u2028", "\ufeff", "\r"),
    ]
)
TEXT = st.one_of(TRICKY, st.text(max_size=12), st.lists(TRICKY, max_size=4).map("".join)).filter(bool)
NAME = TEXT.filter(lambda text: not set(text) & set("./:~"))
"""No path: those that are relative become absolute when they are read."""
FLOATS = st.floats(1e-12, 0.999)

RECIPES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**63 - 1),
        "model": st.fixed_dictionaries(
            {"name": NAME, "revision": st.none() | TEXT, "train_embeddings": st.booleans()}
        ),
        "tasks": st.fixed_dictionaries(
            {
                "source": NAME,
                "columns": st.dictionaries(TEXT, TEXT, max_size=3),
                "topics": st.lists(TEXT, max_size=3),
            }
        ),
        "rewards": st.lists(
            st.fixed_dictionaries({"name": NAME, "weight": FLOATS}),
            min_size=1,
            max_size=3,
            unique_by=lambda r: r["name"],
        ),
        "sampling": st.fixed_dictionaries(
            {"stop": st.none() | st.lists(TEXT, max_size=3), "temperature": FLOATS}
        ),
        "optim": st.fixed_dictionaries({"learning_rate": FLOATS, "betas": st.tuples(FLOATS, FLOATS)}),
        "policy": st.one_of(
            st.fixed_dictionaries({"engine": st.just("scripted"), "answers": NAME}),
            st.fixed_dictionaries({"engine": st.just("vllm"), "enforce_eager": st.booleans()}),
            st.fixed_dictionaries({"engine": st.just("openai"), "model": TEXT}),
        ),
    }
)


@settings(max_examples=most(300, 5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=RECIPES)
def test_dump_reloads_to_the_same_recipe(tmp_path: Path, data: dict[str, Any]) -> None:
    recipe = Recipe.model_validate(data)
    path = tmp_path / "dumped.yaml"
    path.write_bytes(dump_recipe(recipe).encode())
    assert load_recipe([path]) == recipe


@settings(max_examples=most(300, 5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=RECIPES, second=RECIPES)
def test_a_full_recipe_replaces_another(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Merging left to right: whoever sets every key wins whole, but for the keys of free mappings, which add up."""
    second["tasks"]["columns"] = first["tasks"]["columns"]
    paths = []
    for name, data in (("1.yaml", first), ("2.yaml", second)):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(dump_recipe(Recipe.model_validate(data)).encode())
    assert load_recipe(paths) == Recipe.model_validate(second)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON)
def test_yaml_round_trip_keeps_types(value: Any) -> None:
    text = yaml.dump(value, Dumper=Dumper, allow_unicode=True)
    again = read_yaml(text, lambda *_: None)
    assert again == value
    assert type(again) is type(value)
