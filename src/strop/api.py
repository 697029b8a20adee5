"""The functions of `import strop`, for notebooks and scripts: each is a thin layer over what the commands use.

All settings come from a recipe (`recipe`, `strop.config.schema.Recipe`); without one, its defaults apply. Mistakes that
the user can correct raise a one-line `strop.UserError`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strop.config.load import load_recipe
from strop.config.schema import Recipe
from strop.environments.registry import EnvironmentFactory, find_environment, played_by
from strop.evaluation.evaluate import check, evaluate_with
from strop.evaluation.result import Evaluation
from strop.rewards.rubric import WeightedRubric, find_reward, score_name
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.groups import play_groups
from strop.tasks.answers import answer_in
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import BatchReward, Policy, Reward, Verifier
from strop_verify.core.rollout import Group, Rollout
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict
from strop_verify.verification import open_configured

if TYPE_CHECKING:
    from strop_verify.verification.verifier import OpenVerifier

_DEFAULTS = Recipe()
Say = Callable[[str], None]


Rewards = Mapping[str | Reward | BatchReward, float]
"""{name or function: weight}."""


def recipe(*words: str | PathLike[str] | Mapping[str, Any]) -> Recipe:
    """Loads a recipe from files and KEY=VALUE overrides, as on the command line.

    A mapping is nested data as in a file: `recipe({"optim": {"steps": 2}})`. Raises UserError with a line per mistake.
    """
    layers: list[str | Mapping[str, Any]] = []
    for word in words:
        _check(word, str | PathLike | Mapping, "recipe", "a file, KEY=VALUE or a mapping")
        layers.append(word if isinstance(word, Mapping) else str(word))
    overrides = [word for word in layers if isinstance(word, str) and "=" in word]
    return load_recipe([word for word in layers if word not in overrides], overrides)


def verify(
    tasks: Task | Sequence[Task],
    answers: Sequence[str],
    *,
    recipe: Recipe = _DEFAULTS,
    verifier: "OpenVerifier | None" = None,
) -> list[Verdict]:
    """Judges answers with the code that training uses, and returns one verdict per answer, in order.

    tasks     one for each answer, or a single one for all
    answers   code, or text with the code in a fenced block
    recipe    its `sandbox` sets limits (CPU and wall seconds, MiB) and jail
    verifier  judges many calls (`strop.open_verifier`); by default one is opened for this call

    If the grader itself fails, the outcome is *error*, never an exception. Raises UserError if the numbers of tasks and
    answers differ, SandboxError if the host lacks the jail.
    """
    _check(recipe, Recipe, "recipe", "strop.recipe(...)")
    asked = [tasks] * len(answers) if isinstance(tasks, Task) else _tasks(tasks)
    if isinstance(answers, str) or not all(isinstance(answer, str) for answer in answers):
        raise UserError(f"answers must be a list of texts, one per task, not {answers!r:.60}")
    if len(asked) != len(answers):
        raise UserError(
            f"{len(asked)} tasks for {len(answers)} answers; give one task for each, or one for all"
        )
    with ExitStack() as stack:
        judge = _verifier(recipe, verifier, stack)
        pairs = zip(asked, answers, strict=True)
        futures = [judge.submit(task, answer_in(answer, task)) for task, answer in pairs]
        return [future.result() for future in futures]


def play(
    policy: Policy,
    tasks: Sequence[Task],
    *,
    samples: int = 1,
    rewards: Rewards | None = None,
    environment: str | EnvironmentFactory | None = None,
    recipe: Recipe = _DEFAULTS,
    verifier: Verifier | None = None,
) -> list[Group]:
    """Plays every task `samples` times; returns one group per task, in order, of rollouts with verdicts and scores.

    A task that is listed twice is played twice, with different random numbers.

    policy       generates the answers: `strop.open_policy(recipe)`, or `strop.ScriptedPolicy`
    rewards      {name or function: weight}; by default the recipe's
    environment  name, "file.py:Class" or class of one (docs/plays.md); by default the recipe's
    recipe       its seed, `tasks` (prompt style, limits), `sampling`, `rewards` and `sandbox` are used
    verifier     judges the answers; by default one is opened for this call

    Raises UserError for an unknown name, a prompt that is too long, and a reward that raises.
    """
    tasks = _tasks(tasks)
    _check(recipe, Recipe, "recipe", "strop.recipe(...)")
    _check(samples, int, "samples", "a whole number")
    if samples < 1:
        raise UserError(f"samples={samples} plays nothing; ask for at least 1")
    rubric = _rubric(recipe, rewards)
    params = recipe.sampling.params()
    with ExitStack() as stack:
        dispatcher = _dispatcher(policy, tasks, environment, recipe, verifier, stack)
        return play_groups(dispatcher, rubric, tasks, samples, params, seed=recipe.seed, step=0)


def evaluate(
    policy: Policy,
    tasks: Sequence[Task],
    *,
    environment: str | EnvironmentFactory | None = None,
    recipe: Recipe = _DEFAULTS,
    verifier: Verifier | None = None,
    on_rollout: Callable[[Rollout], None] = lambda rollout: None,
) -> Evaluation:
    """Measures pass@k, greedy accuracy and rates by stage, as the recipe's `evaluation` asks for.

    `result.keys` names the numbers; `result.estimate("pass@1")` is a share from 0 to 1 with its interval. `on_rollout`
    gets each rollout as it arrives. An environment with a control, such as feedback, is compared with it:
    `result.controls`, `result.against("resampled")`. Other arguments as in `play`. Raises UserError for settings that
    leave nothing to report, TooManyErrors if more than limits.max_error_rate of the answers could not be verified.
    """
    tasks = _tasks(tasks)
    _check(recipe, Recipe, "recipe", "strop.recipe(...)")
    asked = recipe.evaluation
    check(tasks, asked.samples, asked.k, asked.greedy)
    with ExitStack() as stack:
        dispatcher = _dispatcher(policy, tasks, environment, recipe, verifier, stack)
        control = dispatcher.control()
        return evaluate_with(
            recipe,
            dispatcher.play,
            tasks,
            contamination=None,
            on_rollout=on_rollout,
            control=control.play if control else None,
        )


def train(
    recipe: Recipe,
    *,
    tasks: Sequence[Task] | None = None,
    rewards: Rewards | None = None,
    environment: str | EnvironmentFactory | None = None,
    resume: str | PathLike[str] | None = None,
    say: Say = print,
    show: Callable[[dict[str, Any]], None] = lambda metrics: None,
) -> dict[str, Any]:
    """Trains a model and returns the run's summary, which is also in the run folder (docs/formats.md).

    tasks        in place of the recipe's; those whose split is "held-out" are used for evaluation
    rewards      {name or function: weight}, in place of the recipe's
    environment  name, "file.py:Class" or class of one, in place of the recipe's
    resume       folder of a stopped run that was started with the same arguments; its own recipe applies
    say, show    receive lines of text and each step's metrics

    Raises UserError before anything is written if the recipe cannot run.
    """
    _check(recipe, Recipe, "recipe", "strop.recipe(...)")
    from strop.training.caller_overrides import Overrides
    from strop.training.preflight import preflight

    given = Overrides(
        tasks=None if tasks is None else _tasks(tasks),
        rubric=None if rewards is None else _rubric(recipe, rewards),
        environment=environment,
    )
    if environment is not None:
        find_environment(environment, "environment")
    if resume is None:
        given = preflight(recipe, given, say=say)
    from strop.training import run

    if resume is not None:
        return run.resume(Path(resume), given=given, say=say, show=show)
    return run.train(recipe, given=given, say=say, show=show)


def _check(value: Any, kind: Any, name: str, form: str) -> None:
    """Raises UserError for an argument of the wrong type."""
    if not isinstance(value, kind):
        raise UserError(f"{name} must be {form}, not {type(value).__name__} {value!r:.60}")


def _tasks(tasks: Any) -> list[Task]:
    listed = list(tasks) if isinstance(tasks, Iterable) and not isinstance(tasks, str | Task) else [tasks]
    for task in listed:
        if not isinstance(task, Task):
            raise UserError(
                f"tasks must be a list of strop.Task, such as strop.load_tasks(...), not {task!r:.60}"
            )
    return listed


def _verifier(recipe: Recipe, given: Any, stack: ExitStack) -> Any:
    if given is not None:
        return given
    opened = open_configured(recipe.sandbox, recipe.verifier)
    stack.callback(opened.close)
    return opened


def _rubric(recipe: Recipe, rewards: Rewards | None) -> WeightedRubric:
    if rewards is None:
        return WeightedRubric.from_names([(reward.name, reward.weight) for reward in recipe.rewards])
    _check(rewards, Mapping, "rewards", "a mapping {name or function: weight}")
    named = []
    for reward, weight in rewards.items():
        _check(weight, int | float, "rewards: a weight", "a number")
        if not isinstance(reward, str) and not callable(reward):
            raise UserError(f"rewards: {reward!r:.60} is neither a name nor a function")
        if isinstance(reward, str):
            named.append((score_name(reward), find_reward(reward), weight))
        else:
            named.append((getattr(reward, "__name__", type(reward).__name__), reward, weight))
    return WeightedRubric(named)


def _dispatcher(
    policy: Policy,
    tasks: Sequence[Task],
    environment: str | EnvironmentFactory | None,
    recipe: Recipe,
    verifier: Verifier | None,
    stack: ExitStack,
) -> Dispatcher:
    _check(policy, Policy, "policy", "one that answers, such as strop.open_policy(recipe)")
    if isinstance(recipe.tasks, list):
        raise UserError(
            "the recipe has several task sets; use a recipe with at most one, for a single prompt style"
        )
    made = played_by(recipe, kind=environment)
    dispatcher = dispatcher_of(recipe, policy, _verifier(recipe, verifier, stack), made, stack=stack)
    dispatcher.check_prompts(tasks)
    return dispatcher
