"""`strop play`: shows one play of a task in the terminal, turn by turn, live or recorded."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from strop.cli.options import EngineOptions, RecipeOptions, grouped, of_recipe
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop.reports.terminal.plays import PlayView
    from strop_verify.core.protocols import Environment
    from strop_verify.core.task import Task

_PLAYED = "played"
"""Key in a saved line for facts that a rollout does not hold: model, source, messages, seconds."""


@dataclass(frozen=True)
class PlayOptions(RecipeOptions):
    """Options for how the task is played."""

    environment: Annotated[
        str | None,
        of_recipe(
            "tasks.environment.type",
            "--environment",
            "-e",
            help="how the task is played: a built-in name or file.py:Class; options as '{type: NAME, tries: 3}', or as "
            "overrides, such as tasks.environment.tries=3",
        ),
    ] = None
    temperature: Annotated[
        float | None,
        of_recipe("sampling.temperature", "--temperature", "-t", min=0.001, help="sampling temperature"),
    ] = None
    greedy: Annotated[bool, Option("--greedy", help="take the most likely token each time")] = False

    def given(self) -> dict[str, object]:
        """The given options, including those of this class."""
        return {
            **super().given(),
            "tasks.environment": self.environment and _typed(self.environment),
            "sampling.temperature": self.temperature,
        }


def _typed(environment: str) -> str:
    """The environment written as a mapping, so that overrides can add options."""
    quoted = environment.replace("'", "''")
    return environment if environment.startswith("{") else f"{{type: '{quoted}'}}"


@grouped
def play(
    asked: PlayOptions,
    answering: EngineOptions,
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[TASK] [RECIPE.yaml...] [KEY=VALUE...]",
            help="the beginning of a task's id or its number in the set, from 1 (the default), or a file of one "
            "task: a Python function with doctests or a task line; then recipes and overrides",
        ),
    ] = None,
    model: Annotated[
        str | None,
        Option(
            "--model",
            "-m",
            help="model, written as for strop eval: a preset, folder, run or MODEL of any engine, or "
            "scripted:FILE; by default the recipe's",
        ),
    ] = None,
    replay: Annotated[
        str | None,
        Option(
            metavar="ROLLOUT",
            help="show a recorded play: RUN#ID with an id of strop show, or FILE[#TASK/INDEX], a file of rollouts "
            "or of --save",
        ),
    ] = None,
    save: Annotated[Path | None, Option(help="write the play to this file, for --replay")] = None,
    full: Annotated[bool, Option("--full", help="show every text in full")] = False,
) -> None:
    """Play one task and show each turn as it happens: prompt, completions, tools with results, verdict, scores, time.

    TASK is looked up in --tasks, as for strop eval. Nothing is trained.
    """
    from strop.reports.terminal.consoles import console
    from strop.reports.terminal.plays import PlayView

    view = PlayView(console(), full=full)
    if replay is not None:
        if words or model or save:
            raise UserError("--replay shows a recorded play; leave out TASK, --model and --save")
        _replay(view, replay)
        return
    from strop_verify.core import files

    if save is not None:
        files.check_writable(save)
    from strop.cli.models import chosen_task

    recipe, task = chosen_task("play", words or [], asked.overrides(), answering, model)
    line = _play(recipe, task, view, greedy=asked.greedy, model=model)
    if save is not None:
        with files.atomic(save) as file:
            file.write(files.json_line(line) + b"\n")


def _play(
    recipe: "Recipe", task: "Task", view: "PlayView", *, greedy: bool, model: str | None
) -> dict[str, Any]:
    """Plays and shows one rollout; returns its line for --save."""
    from contextlib import ExitStack

    from strop.config.algorithms import PerTurnAdvantage
    from strop.environments.registry import played_by
    from strop.evaluation.baselines import with_baseline
    from strop.policies.open import open_policy
    from strop.rewards.rubric import WeightedRubric
    from strop.rollouts.dispatcher_factory import dispatcher_of
    from strop.rollouts.groups import scored
    from strop_verify.verification import open_configured

    rubric = WeightedRubric.from_names([(reward.name, reward.weight) for reward in recipe.rewards])
    params = recipe.sampling.params()
    if greedy:
        params = params.model_copy(update={"temperature": 0.0, "top_p": 1.0})
    with ExitStack() as stack:
        recipe = with_baseline(recipe, [task], stack)
        verifier = stack.enter_context(open_configured(recipe.sandbox, recipe.verifier))
        environment = played_by(recipe)
        policy = open_policy(recipe, prompts=lambda tokenizer: {task.id: ()})
        stack.callback(getattr(policy, "close", lambda: None))
        player = dispatcher_of(recipe, policy, verifier, environment)
        player.check_prompts([task])
        played = {"environment": recipe.task_set.environment.type, "model": model or policy.name}
        view.head(task.id, played)
        watch = PlayWatch(view)
        live = player.copy_with(policy, lambda task: watch.on(environment(task)))
        (rollout,) = live.play([task], 1, params, seed=recipe.seed, tag="play")
        watch.end()
        by_turn = isinstance(recipe.grpo.advantage, PerTurnAdvantage)
        (rollout,) = scored(rubric, [(task, rollout)], by_turn=by_turn)
    line = rollout.model_dump(mode="json")
    line[_PLAYED] = {
        **played,
        "tasks": recipe.task_set.source,
        "language": task.language,
        **watch.played(),
    }
    _show(view, line)
    return line


class PlayWatch:
    """Shows an environment's inputs and outputs as they happen, and measures times."""

    def __init__(self, view: "PlayView") -> None:
        self._view = view
        self.times: dict[str, float] = {}
        self.seconds: list[float] = []
        self.said: list[str] = []
        self._at, self._waits = time.monotonic(), "set-up"
        self._text, self._chat = "", False
        self._broken: OSError | SystemExit | None = None

    def on(self, environment: "Environment") -> "Environment":
        """The environment with its calls watched. If it accepts no attributes, it is shown after the play."""
        with suppress(AttributeError):
            for name in ("begin", "step", "result"):
                if method := getattr(environment, name, None):
                    setattr(environment, name, self._watched(name, method))
        return environment

    def end(self) -> None:
        """Ends the display. Raises any error from printing, such as a broken pipe."""
        self._lap()
        if self._broken is not None:
            raise self._broken

    def played(self) -> dict[str, Any]:
        """Facts of the play besides its rollout: seconds of each completion, the messages before it, times."""
        return {"seconds": self.seconds, "said": self.said, "times": self.times}

    def _watched(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def called(*given: Any) -> Any:
            seconds = self._lap()
            self._tell(self._before, name, given, seconds)
            self._waits = "environment"
            after = method(*given)
            self._lap()
            self._tell(self._after, after)
            return after

        return called

    def _before(self, name: str, given: Sequence[Any], seconds: float) -> None:
        if name == "step":
            if len(self.said) == len(self.seconds):  # the dispatcher said why a turn did not count
                self._say(self._text)
            self.seconds.append(seconds)
            self._text = given[0].text
            self._view.completion(given[0].model_dump(), seconds)
        elif name == "result":
            from strop.reports.page.rollout_data import short_verdict
            from strop.rollouts.admission import event_of
            from strop_verify.core.play import Verify

            pairs = zip(*given, strict=True) if isinstance(given[0], tuple) else [given]
            for effect, result in pairs:
                self._view.event(event_of(effect, result, seconds).model_dump(), self._text)
                if isinstance(effect, Verify):
                    self._view.judged(short_verdict(result.model_dump()))

    def _after(self, after: Any) -> None:
        from strop_verify.core.play import Converse, Do, Done, Opening, Say
        from strop_verify.core.rollout import Message

        match after:
            case Converse() if self.said:
                last = max((n for n, one in enumerate(after.messages) if one.role == "assistant"), default=-1)
                new = after.messages[last + 1 :] or (Message(role="user", content=after.text),)
                self._after(Say(new, after.prefill))
            case Opening():
                self.said.append("")
                self._chat = bool(after.messages)
                self._view.opening(after.shown())
                self._waits = "model"
            case Say():
                said = "\n".join(message.content for message in after.messages)
                told = Opening(messages=after.messages, prefill=after.prefill)
                self._say(told.shown() if self._chat else said)
                self._waits = "model"
            case Do():
                self._waits = "tools"
            case Done(why, reason):
                self._text = why or f"This turn does not count: {reason}."
                self._waits = "grading" if reason == "answered" else "model"

    def _say(self, text: str) -> None:
        self.said.append(text)
        self._view.given(text)

    def _tell(self, show: Callable[..., None], *given: Any) -> None:
        """Prints something. A terminal error is raised in the main thread later, not in the environment."""
        try:
            if self._broken is None:
                show(*given)
        except (OSError, SystemExit) as error:  # rich raises the latter for a broken pipe
            self._broken = error

    def _lap(self) -> float:
        """Seconds since the last call."""
        now = time.monotonic()
        passed, self._at = now - self._at, now
        self.times[self._waits] = self.times.get(self._waits, 0.0) + passed
        return passed


def _replay(view: "PlayView", word: str) -> None:
    """Shows a recorded play. Raises UserError if it does not exist."""
    from strop.reports.page.rollout_data import load_vocabulary
    from strop.reports.run_state import check_run
    from strop.reports.terminal.find import RolloutFinder

    place, _, which = word.partition("#")
    path = Path(place)
    if path.is_dir():
        check_run(path)
        if not which:
            raise UserError(
                f"--replay {place}: name a rollout of the run as {place}#t.1.0.0 (strop show --id)"
            )
        finder = RolloutFinder(path)
        _show(view, finder.by_id(which).line, finder.vocabulary)
    else:
        _show(view, _line_of(path, which), load_vocabulary(path.resolve().parent.parent))


def _line_of(path: Path, which: str) -> dict[str, Any]:
    """The rollout TASK/INDEX of a file, the first one of a task, or the first of all. Raises UserError."""
    from strop.reports.page.rollout_data import NO_ROLLOUT, row_of
    from strop.reports.rollout_files import RolloutFile, read_whole
    from strop_verify.core import files

    if not path.is_file():
        raise UserError(f"--replay {path}: no such file or run; give RUN#ID, or FILE#TASK/INDEX")
    lines = list(read_whole(path) if path.suffix == ".zst" else files.read_jsonl(path))
    try:
        for line in lines:
            row_of(line, RolloutFile(path))
    except NO_ROLLOUT as error:
        raise UserError(f"--replay {path}: it holds no rollouts ({error!r:.80})") from error
    task, slash, index = which.rpartition("/")
    if not slash:
        task, index = which, ""
    for line in lines:
        if line["task_id"].startswith(task) and index in ("", str(line["index"])):
            return dict(line)
    raise UserError(
        printable(f"{path} has no rollout {which!r:.80}; give TASK/INDEX of one of its {len(lines)}")
    )


def _show(view: "PlayView", line: dict[str, Any], vocabulary: "Sequence[str]" = ()) -> None:
    """Shows the parts of a rollout that its line has and that were not shown yet."""
    from strop.reports.page.rollout_data import detail_of, task_of
    from strop.reports.rollout_files import RolloutFile

    played = line.get(_PLAYED) or {}
    language = played.get("language") or task_of(line)["language"]
    view.show(detail_of(line, RolloutFile(Path()), vocabulary, language, colours=False), line, played)
