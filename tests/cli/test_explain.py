"""`strop explain` and what it reads: every key as the schema has it."""

import pytest
from tests.warm import strop

from strop.config.explain import explain, keys
from strop.config.messages import ALIASES
from strop_verify.core.errors import UserError


def one(name: str) -> str:
    (key,) = explain(name)
    return str(key)


def test_a_key_is_said_with_type_bounds_unit_and_default() -> None:
    text = one("sampling.max_tokens")
    assert "type     whole number, at least 1" in text
    assert "default  1024" in text and "unit     tokens" in text and "Longest completion" in text
    assert "one of continue, chat, chat-prefilled" in one("tasks.style")
    assert "(only with policy.engine vllm, vllm-server)" in one("policy.tensor_parallel_size")
    assert "default  must be given" in one("rewards.0.name")
    assert "list of 2 numbers" in one("optim.betas") and "text, or null" in one("model.cutoff")


def test_a_preset_is_said_with_what_it_is() -> None:
    text = one("grpo.preset")
    assert (
        "one of classic, clip-higher, dr-grpo, gspo" in text
        and "dr-grpo: Dr. GRPO (arXiv 2503.20783)" in text
    )
    assert {key.name for key in explain("preset")} == {"model.preset", "policy.preset", "grpo.preset"}


def test_keys_of_several_kinds_are_said_once_for_those_that_agree() -> None:
    shown = {key.only: key.default for key in explain("grpo.loss.epsilon_high")}
    assert shown == {
        "grpo.loss.type grpo, dr-grpo": "0.2",
        "grpo.loss.type dapo": "0.28",
        "grpo.loss.type gspo": "0.0004",
    }


def test_the_last_part_and_names_from_elsewhere_are_understood() -> None:
    assert {key.name for key in explain("learning_rate")} == {
        "optim.learning_rate",
        "sft.learning_rate",
        "reward_model.learning_rate",
        "stages[].optim.learning_rate",
    }
    names = {key.name for key in keys()}
    for alias, meant in ALIASES.items():
        assert meant in names and meant in {key.name for key in explain(alias)}, alias


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("grpo.betta", "did you mean grpo.beta?"),
        ("max_tokns", "max_tokens?"),
        ("flurb", "sections are seed, run"),
    ],
)
def test_a_wrong_key_is_a_line_with_what_was_meant(word: str, said: str) -> None:
    with pytest.raises(UserError, match=r"no key") as found:
        explain(word)
    assert said in str(found.value)


def test_the_command() -> None:
    done = strop("explain", "grpo")
    assert done.returncode == 0 and done.stdout.startswith("grpo\n  The policy-gradient update.")
    assert "  grpo.group_size                     8\n" in done.stdout
    assert "  grpo.loss.epsilon_high              0.28  (only with grpo.loss.type dapo)\n" in done.stdout
    assert {line.split()[0] for line in strop("explain").stdout.splitlines()} >= {"run", "model", "limits"}
    wrong = strop("explain", "grpo.betta")
    assert wrong.returncode == 2 and len(wrong.stderr.splitlines()) == 1
