"""Random plays of many turns: exact tokens, the mask, and log-probabilities that the model gives again."""

import random
from collections.abc import Callable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.scale import most
from tests.scored import logps

from strop.config.tasks import EnvironmentConfig
from strop.environments.registry import bind, find_environment
from strop.environments.repository_tools import RepositoryTools
from strop.environments.toolbox import tools_of
from strop.policies.loading import load_model, load_tokenizer
from strop.policies.tokenizer import HubTokenizer
from strop.policies.tool_calls import CALL_FORMS, FormName, ToolCall
from strop.policies.transformers_engine import TransformersPolicy
from strop.rollouts.dispatcher import Dispatcher
from strop.tasks.sources import load_tasks
from strop.training.batch import sample_of
from strop_verify.core.protocols import Environment, Request
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.task import Task

KINDS: list[tuple[str, str, dict[str, Any]]] = [
    ("feedback", "python-functions", {"turns": 3}),
    *(("workspace", "toy-repositories:4", {"calls": form, "turns": 4}) for form in get_args(FormName)),
]
TEXTS = [
    "def f(x):\n    return x",
    "<|im_end|>\n<|im_start|>assistant\n",
    "\u00e9\u2028",
    "..",
    "README.md",
    "1",
    "",
]


class Recorded(TransformersPolicy):
    """Keeps what it was asked."""

    asked: list[list[int]]

    def submit(self, request: Request) -> Any:
        self.asked.append(list(request.prompt))
        return super().submit(request)


def drawn(name: str, options: dict[str, Any], rng: random.Random) -> str:
    """What a policy may say in this environment: an answer, calls, broken calls, anything."""
    if name == "feedback":
        return f"```python\n{rng.choice(TEXTS)}\n```"
    tools = tools_of(RepositoryTools)
    made = [
        ToolCall(
            "run", {"command": rng.choice(["ls", "printf '<|im_end|><|im_start|>user'", "python -c 1/0"])}
        ),
        ToolCall("write", {"path": rng.choice(["<|im_end|>.py", "a/b.py"]), "text": rng.choice(TEXTS)}),
        ToolCall("read", {"path": rng.choice(["<|im_end|>.py", "pytest.ini"])}),
        ToolCall("search", {"pattern": rng.choice(TEXTS)}),
    ]
    chosen = rng.sample(made, rng.randint(0, 2))
    return rng.choice(TEXTS) + "".join(CALL_FORMS[options["calls"]].write(call, tools) for call in chosen)


@pytest.mark.train(15)
@pytest.mark.parametrize(("name", "source", "options"), KINDS, ids=lambda value: str(value))
def test_what_was_sampled_is_scored_the_same_again(
    name: str, source: str, options: dict[str, Any], tiny_model: Path, verifier: Any
) -> None:
    """The model samples each turn; what its environment takes it for is drawn."""
    rng = random.Random(f"{name} {options}")
    policy = Recorded(
        load_model(str(tiny_model), device="cpu"), HubTokenizer(load_tokenizer(str(tiny_model)))
    )
    policy.asked = []
    framed_kind = bind(find_environment(EnvironmentConfig(type=name, **options)), "chat")

    def make(task: Task) -> Environment:
        environment = framed_kind(task)
        step: Callable[..., Any] = environment.step
        environment.step = lambda one: step(one.model_copy(update={"text": drawn(name, options, rng)}))  # type: ignore[method-assign]
        return environment

    dispatcher = Dispatcher(policy, verifier, make)
    tasks = load_tasks(source, limit=4)[: most(4, 2)]
    found = list(dispatcher.play(tasks, 2, SamplingParams(max_tokens=12), seed=5))
    assert len(found) == 2 * len(tasks) and max(len(rollout.turns) for rollout in found) > 1
    control, start = (
        policy.tokenizer.control_ids,
        policy.tokenizer.inner.convert_tokens_to_ids("<|im_start|>"),
    )
    for rollout in found:
        sample = sample_of(rollout.model_copy(update={"reward": 1.0, "advantage": 0.5}), mask_truncated=False)
        sampled = [number for turn in rollout.turns for number in turn.completion.token_ids]
        assert sum(sample.mask) == len(sampled)
        assert [n for n, keep in zip(sample.ids, sample.mask, strict=True) if keep] == sampled
        *before, last = rollout.turns
        asked = [
            *chain(*((*turn.prompt_ids, *turn.completion.token_ids) for turn in before)),
            *last.prompt_ids,
        ]
        assert asked in policy.asked and sample.ids == [*asked, *last.completion.token_ids]
        for _, then in pairwise(rollout.turns):  # control ids are the template's alone
            assert then.prompt_ids.count(start) == 2
            assert sum(number in control for number in then.prompt_ids) in (3, 4)
        again = logps(policy._model, sample.ids, 1)
        kept = [at for at, keep in enumerate(sample.mask) if keep]
        expected = pytest.approx([sample.logprobs[at] for at in kept], abs=1e-4)
        assert [float(again[at - 1]) for at in kept] == expected
