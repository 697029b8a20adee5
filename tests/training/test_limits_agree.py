"""What an environment tells the policy is what the play allows, and a task set on which an expert earns nothing is
refused.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.warm import strop

from strop.config.load import load_recipe
from strop.environments.registry import played_by
from strop.policies.scripted import ScriptedPolicy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.tasks import load_tasks
from strop_verify.core.rollout import SamplingParams

pytestmark = pytest.mark.jail
EXPERT = """
import strop

class Deaf:
    def __init__(self, task, opening, read, *, turns: int = 6, knows: bool = False):
        self.task, self.opening, self.left, self.knows = task, opening, turns, knows

    def begin(self):
        return strop.Opening(messages=[strop.Message(role="user", content=f"{self.left} turns. {self.task.statement}")])

    def step(self, completion):
        self.left -= 1
        if self.left:
            return strop.Say((strop.Message(role="user", content=f"{self.left} left"),))
        return strop.Done(self.task.reference if "I know" in completion.text else "")

    def demonstrate(self, rng):
        while True:
            yield "I know" if self.knows else "no idea"
"""


@pytest.mark.parametrize("kind", ["workspace", "feedback", "OWN"])
def test_the_smaller_number_of_turns_is_told_and_played(kind: str, verifier: Any, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(EXPERT)
    kind = kind.replace("OWN", f"{tmp_path}/own.py:Deaf")
    for allowed, told in ((2, 2), (40, {"workspace": 8, "feedback": 3}.get(kind, 6))):
        recipe = load_recipe(
            [], [f"tasks.environment={kind}", f"play.max_turns={allowed}", "tasks.style=chat"]
        )
        (task,) = load_tasks("python-functions", limit=1)
        environment = played_by(recipe)(task)
        assert getattr(environment, "left") == told  # noqa: B009
        policy = ScriptedPolicy(lambda *_: "I do not know.")
        player = dispatcher_of(recipe, policy, verifier, played_by(recipe), prompt=1 << 20)
        (found,) = player.play([task], 1, SamplingParams(max_tokens=200), seed=1)
        assert found.stop_reason == "answered" and len(found.turns) == told
        if kind != "feedback":
            assert f"{told} turns" in found.prompt


def dry_run(words: list[str], *more: str) -> tuple[int, str]:
    done = strop("train", "--dry-run", *words, "rewards=[{name: passed}]", *more)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.train(20)
def test_an_expert_that_earns_nothing_is_refused(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(EXPERT)
    kind = f"tasks.environment.type={tmp_path}/own.py:Deaf"
    code, said = dry_run(recipe_words("run"), kind)
    assert code == 2 and "4 plays by the environment's expert earned nothing (passed 0)" in said, said
    code, said = dry_run(recipe_words("run"), kind, "tasks.environment.knows=true")
    assert code == 0 and "rewards of a play of the environment's expert: passed 1" in said, said
    assert "turns (play.max_turns)" not in said
    code, said = dry_run(recipe_words("run"), kind, "tasks.environment.knows=true", "play.max_turns=3")
    assert (
        code == 0 and "plays have 3 turns (play.max_turns), fewer than the 6 of their environment" in said
    ), said


@pytest.mark.train(20)
def test_a_play_that_nobody_has_shown_is_told_of(
    recipe_words: Callable[..., list[str]], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(EXPERT.replace("def demonstrate", "def _demonstrate"))
    code, said = dry_run(recipe_words("run"), f"tasks.environment={tmp_path}/own.py:Deaf")
    assert code == 0 and "that answered with the reference earned nothing, so nothing shows" in said, said


@pytest.mark.train(20)
def test_an_agent_is_played_by_an_expert_before_a_run(recipe_words: Callable[..., list[str]]) -> None:
    agent = Path(__file__).parents[2] / "examples/agents/openai_agent.py"
    kind = f"tasks.environment={{type: harness, command: 'python {agent} {{task}}'}}"
    code, said = dry_run(recipe_words("run"), kind, "tasks.max_prompt_tokens=2000")
    assert code == 0 and "of an expert who guesses what the agent asks for: passed 1" in said, said
    assert "plays have 10 turns (play.max_turns), fewer than the 50 of their environment" in said
