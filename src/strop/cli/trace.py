"""`strop trace`: follows one task from its source to the loss, and prints its record at each stop."""

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

import strop
import strop_verify
from strop.cli.options import recipe_of
from strop_verify.core.errors import UserError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe

_ROOTS = tuple(f"{Path(str(part.__file__)).parent}/" for part in (strop, strop_verify))
_STOPS = {
    **dict.fromkeys(("verification", "sandbox"), "verification/ and sandbox/"),
    "policies": "policies/",
    **dict.fromkeys(("training/logps.py", "training/ways.py"), "training/logps.py and ways.py"),
}
"""Packages and files that count as one stop."""
_TRIALS = {("policies/proof.py", "decoder_of"), ("training/logps.py", "update_of")}
"""Functions that try the model on texts of their own, which do not belong to the traced item."""
_SKIPPED = ("core", "cli", "config")
"""Packages that are not stops: records are the item itself."""
_WIDTH = 96


def trace(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[TASK] [NAME|RECIPE.yaml...] [KEY=VALUE...]",
            help="the beginning of a task's id, the first task by default; recipes (default: demo) and overrides",
        ),
    ] = None,
) -> None:
    """Follow one task through a training step: each file that gets it, and its record there.

    The step is real, on this task only and in a temporary folder: prompt, completions, verdicts,
    scores, advantages, samples, loss.
    """
    from strop.config.recipes import is_recipe

    words = words or []
    start = next((word for word in words[:1] if "=" not in word and not is_recipe(word)), "")
    words = words[bool(start) :]
    recipe = recipe_of(words if any(map(is_recipe, words)) else ["demo", *words])
    for line in trace_lines(start, recipe):
        print(printable(line))


def trace_lines(start: str, recipe: "Recipe") -> Iterator[str]:
    """The lines of `strop trace` for the first task whose id begins with `start`. Raises UserError if there is none."""
    from strop.tasks.task_sets import each, task_sets
    from strop.training.caller_overrides import Overrides
    from strop.training.run import train

    sets = task_sets(recipe)
    found = [(one, task) for one in sets for task in one.tasks if task.id.startswith(start)]
    if not found:
        some = ", ".join(task.id for one in sets for task in one.tasks[:3])
        raise UserError(
            f"no task of {recipe.run.name} has an id that begins with {start!r}; there are {some}, ..."
        )
    one, task = found[0]
    tracer = ItemTrace(task.id)
    with tracer:
        task_sets(recipe)
    with tempfile.TemporaryDirectory(prefix="strop-trace-") as folder:
        changes: dict[str, Any] = {
            "tasks": one.recipe.tasks,
            "rewards": one.recipe.rewards,
            "run": recipe.run.model_copy(update={"dir": f"{folder}/run", "overwrite": False}),
            "optim": recipe.optim.model_copy(update={"steps": 1, "warmup_steps": 0}),
            "grpo": recipe.grpo.model_copy(update={"tasks_per_step": 1, "refill": False, "max_staleness": 0}),
            "evaluation": recipe.evaluation.model_copy(
                update={"before": False, "after": False, "every": 0, "room": 1}
            ),
            "sft": recipe.sft.model_copy(update={"warm_start": False}),
            "stages": [],
        }
        alone = each(recipe)[one.name].model_copy(update=changes)
        with tracer:
            train(
                alone,
                given=Overrides(tasks=[task.model_copy(update={"split": "train"})]),
                say=_silent,
                show=_silent,
            )
    yield from tracer.lines()
    if not tracer.lost:
        yield "no loss: every answer got the same reward, so this group has no advantages; try another task or seed=1"


def _silent(_: object) -> None:
    """Discards a message."""


@dataclass
class ItemTrace:
    """Context manager that records which of Strop's files get a task or its results, and in what form.

    A file counts if one of its functions takes or returns a record of the item, a list of them, or its advantages.

    start  the task's id, or its beginning
    path   (file, form, function, the record as text), the first of each form in a file, in order of time
    lost   whether the loss was reached; nothing is recorded after it
    """

    start: str
    path: list[tuple[str, str, str, str]] = field(default_factory=list)
    lost: bool = False

    def __enter__(self) -> "ItemTrace":
        self._kinds = _kinds()
        self._known = {(file, kind) for file, kind, _, _ in self.path}
        self._trial: FrameType | None = None
        threading.setprofile(self._seen)
        sys.setprofile(self._seen)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def lines(self) -> Iterator[str]:
        """Each stop with the forms of the item there, and each form's first record where it appeared."""
        numbers: dict[str, int] = {}
        told: set[str] = set()
        at = ""
        for file, kind, function, text in self.path:
            if file not in numbers:
                numbers[file], at = len(numbers) + 1, file
                forms = dict.fromkeys(form for other, form, _, _ in self.path if other == file)
                yield f"{numbers[file]:2} {file}: {function}  [{', '.join(forms)}]"
            if kind not in told:
                told.add(kind)
                if at != file:
                    yield f"   again {numbers[file]} {file}: {function}"
                    at = file
                yield f"      {kind}: {text}"[:_WIDTH]

    def _seen(self, frame: FrameType, event: str, result: Any) -> None:
        """A profile function (`sys.setprofile`)."""
        code = frame.f_code
        if self.lost or event not in ("call", "return") or not code.co_filename.startswith(_ROOTS):
            return
        file = next(code.co_filename.removeprefix(one) for one in _ROOTS if code.co_filename.startswith(one))
        room = file.partition("/")[0]
        if room in _SKIPPED:
            return
        if self._trial is None and event == "call" and (file, code.co_name) in _TRIALS:
            self._trial = frame
        if self._trial is not None:
            self._trial = None if event == "return" and frame is self._trial else self._trial
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if event == "call" else ()
        values = [frame.f_locals.get(name) for name in names] if event == "call" else [result]
        found = [record for value in values for record in self._records(value, 2)]
        formula = file == "algorithms/advantages.py" and not code.co_name.startswith(("_", "<"))
        if event == "return" and formula and isinstance(result, list):
            found.append(("advantages", repr(result)))
        if event == "return" and code.co_name == "objective" and result is not None:
            found.append(("loss", f"{float(result[0].detach()):.6f}, the sum of its tokens' shares"))
            self.lost = True
        stop = _STOPS.get(room) or _STOPS.get(file, file)
        for kind, text in found:
            if (stop, kind) not in self._known:
                self._known.add((stop, kind))
                self.path.append((stop, kind, code.co_qualname, text))

    def _records(self, value: Any, depth: int) -> Iterator[tuple[str, str]]:
        """(kind, text) of each part of the item in a value."""
        told = self._kinds.get(type(value))
        if told is not None:
            yield from told(value, self.start)
        elif depth and isinstance(value, list | tuple) and value and type(value[0]) not in (int, float, str):
            for one in value:
                yield from self._records(one, depth - 1)


Told = Callable[[Any, str], Iterator[tuple[str, str]]]


def _kinds() -> dict[type, Told]:
    """{record class: function that describes a record of it}."""
    from strop.algorithms.losses import Tokens
    from strop.policies.decode_batch import DecodedRow
    from strop_verify.core.play import Done, Opening
    from strop_verify.core.protocols import JudgedRollout, Request
    from strop_verify.core.rollout import Batch, Completion, Group, Message, Rollout, Sample
    from strop_verify.core.task import Task
    from strop_verify.core.verdict import Verdict

    def task(one: Task, start: str) -> Iterator[tuple[str, str]]:
        if one.id.startswith(start):
            yield "task", f"{one.id} {one.source}: {one.statement!r}"

    def completion(one: Completion, start: str) -> Iterator[tuple[str, str]]:
        yield "completion", f"{len(one.token_ids)} tokens, ended by {one.finish_reason}: {one.text!r}"

    def verdict(one: Verdict, start: str) -> Iterator[tuple[str, str]]:
        passed = sum(test.outcome == "passed" for test in one.tests)
        yield "verdict", f"{one.outcome.value}, {passed} of {len(one.tests)} tests passed {one.detail}"

    def rollout(one: Rollout, start: str) -> Iterator[tuple[str, str]]:
        if one.verdict is not None:
            yield from verdict(one.verdict, start)
        if one.scores:
            scores = ", ".join(f"{s.name} {s.value} x {s.weight:g}" for s in one.scores)
            yield "scores", f"{scores}; reward {one.reward}"
        if one.advantage is not None:
            yield "advantage", f"{one.advantage:+.4f} for reward {one.reward}"

    def group(one: Group, start: str) -> Iterator[tuple[str, str]]:
        yield "group", f"rewards {one.rewards}"
        yield from (record for member in one.rollouts for record in rollout(member, start))

    def sample(one: Sample, start: str) -> Iterator[tuple[str, str]]:
        yield (
            "sample",
            f"{len(one.ids)} tokens, {one.tokens} with loss, advantage {max(one.advantages, key=abs):+.4f}",
        )

    return {
        Task: task,
        Opening: lambda one, start: iter([("prompt", repr(one.shown()))]),
        Message: lambda one, start: iter([("prompt", repr(one.content))]),
        Request: lambda one, start: iter([("prompt ids", f"{len(one.prompt)}: {list(one.prompt)}")]),
        DecodedRow: lambda one, start: iter([("token ids", repr(one.tokens))]),
        Completion: completion,
        Done: lambda one, start: iter([("answer", repr(one.answer))]),
        Verdict: verdict,
        Rollout: rollout,
        JudgedRollout: lambda one, start: rollout(one.rollout, start),
        Group: group,
        Sample: sample,
        Batch: lambda one, start: iter(record for member in one.samples for record in sample(member, start)),
        Tokens: lambda one, start: iter([("log-probabilities", f"of {len(one.logps)} tokens")]),
    }
