"""`PlaceFinder`: finds code in any folder by playing the environment `search` with one policy."""

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from strop.config.schema import Recipe
from strop.environments.registry import played_by
from strop.environments.search_tree import SearchTree, tree_of_check
from strop.evaluation.answering import Unjudged
from strop.evaluation.baselines import with_baseline
from strop.policies.open import open_policy
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop.rollouts.encoding import opening_ids
from strop.serve.found import Found
from strop_verify.core.checks import RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.protocols import Environment, Policy
from strop_verify.core.ranges import merged, read_ranges, write_ranges
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.task import Task

TASK = "search"
"""The id of the question's task, for files of scripted answers."""
_GRACE = 2.0
"""Seconds that closing waits for a question in progress."""


_WHY: Mapping[str, str] = {
    "malformed": "the answer names no place",
    "no call": "the answer names no place",
    "max turns": "the model used all its messages without naming a place",
    "context": "the conversation grew too long for the model",
    "deadline": "time ran out; raise --seconds",
    "cancelled": "it was cancelled",
}
"""Reasons for users; the play's own texts are written for models."""


class PlaceFinder:
    """Opens a recipe's policy and asks it one question at a time, from any thread."""

    def __init__(self, recipe: Recipe) -> None:
        """Raises UserError if the model or a package is missing, or the recipe's environment is not `search`."""
        if recipe.task_set.environment.type != "search":
            raise UserError(f"tasks.environment.type={recipe.task_set.environment.type} must be search here")
        self._recipe, self._lock = recipe, threading.Lock()
        self._policy = None if recipe.policy.script else open_policy(recipe)

    def __enter__(self) -> "PlaceFinder":
        return self

    def __exit__(self, *_: object) -> None:
        getattr(self._policy, "close", lambda: None)()
        self._lock.acquire(timeout=_GRACE)  # lets another thread's question release its tree

    def find(
        self, folder: Path, question: str, watched: Callable[[Environment], Environment] = lambda one: one
    ) -> Found:
        """The policy's answer at temperature 0 on the current files; in a git checkout, only those that git knows.

        watched  wraps the play's environment, to observe it

        Raises UserError, and VerificationError for a folder that holds no files or too many.
        """
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder}")
        if not question.strip():
            raise UserError("the question is empty; say what to look for")
        check = RetrievalCheck(tree=str(folder.resolve()), truth={})
        task = Task(id=TASK, family="search", statement=question, check=check)
        with self._lock, tree_of_check(check, keep=False) as tree, ExitStack() as stack:
            environment = played_by(self._recipe)
            player = dispatcher_of(
                self._recipe,
                self._policy or self._scripted(task, stack),
                Unjudged(),
                lambda task: watched(environment(task)),
            )
            params = SamplingParams(temperature=0.0, top_p=1.0, max_tokens=self._recipe.sampling.max_tokens)
            (rollout,) = player.play([task], 1, params, seed=self._recipe.seed)
            if rollout.stop_reason == "answered":
                return _found(rollout.answer, tree)
            ours = rollout.verdict.detail if rollout.verdict else rollout.stop_reason
            return Found({}, {}, why=_WHY.get(rollout.stop_reason, ours))

    def _scripted(self, task: Task, stack: ExitStack) -> Policy:
        """A policy of scripted answers, from a baseline or a file, which must be made for this task."""
        recipe = with_baseline(self._recipe, [task], stack)
        environment = played_by(recipe)
        return open_policy(
            recipe, prompts=lambda tokenizer: {task.id: opening_ids(environment(task).begin(), tokenizer)}
        )


def _found(answer: str, tree: SearchTree) -> Found:
    """The places of an answer, split into those that exist and unknown ones."""
    places: dict[str, list[tuple[int, int]]] = {}
    shown: dict[str, list[tuple[int, str]]] = {}
    unknown: list[str] = []
    for path, spans in read_ranges(answer).items():
        texts = tree.lines(path) if path in tree.texts else []
        inside = merged((first, min(last, len(texts))) for first, last in spans if first <= len(texts))
        if inside:
            places[path] = inside
            shown[path] = [(n, texts[n - 1]) for first, last in inside for n in range(first, last + 1)]
        else:
            unknown.append(write_ranges({path: spans}))
    why = "" if places else f"all places in the answer are missing: {', '.join(unknown)}"
    return Found(places, shown, tuple(unknown), why[:500])
