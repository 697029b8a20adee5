"""Strop's verdicts in lm-evaluation-harness: its HumanEval and MBPP tasks under names that begin with `strop_`.

    lm_eval --include_path "$(python -m strop.neighbours.lm_eval)" --tasks strop_humaneval,strop_mbpp --model ...

Prompts, shots, stop strings and filters come from the installed harness; only the judge differs. No answer runs outside
the jail, so HF_ALLOW_CODE_EVAL, --confirm_run_unsafe_code and the Hub's metric `code_eval` are not needed.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import evaluate
import lm_eval.tasks
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml

from strop.evaluation.statistics import pass_at_k
from strop.neighbours.evaluators import harness_task, submit, verdict_of
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

FOLDER = Path(__file__).with_name("lm_eval_tasks")
"""The folder to pass as `--include_path`."""


class StropJudged(ConfigurableTask):
    """A code task of the harness, named by `metadata.original` of its file."""

    def __init__(self, config: dict[str, Any]) -> None:
        original: dict[str, Any] = _original(config["metadata"]["original"])
        own = {"task": config["task"], "unsafe_code": False}
        super().__init__(config={**original, **own})
        self._judged: dict[tuple[str, str], Future[Verdict]] = {}

    def apply_filters(self) -> Any:
        """Judges all answers concurrently as soon as their programs are known."""
        found = super().apply_filters()
        for instance in self._instances:
            for programs in instance.filtered_resps.values():
                for program in _listed(programs):
                    self._submitted(harness_task(instance.doc), program)
        return found

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, float]:
        """The pass rates under the original's names."""
        task, programs = harness_task(doc), _listed(results[0])
        right = sum(verdict_of(task, self._submitted(task, program)).passed for program in programs)
        ((name, settings),) = self._metric_fn_kwargs.items()
        if "k" not in settings:
            return {name: pass_at_k(len(programs), right, 1)}
        many = settings["k"] if isinstance(settings["k"], list) else [settings["k"]]
        return {f"pass@{k}": pass_at_k(len(programs), right, k) for k in many}

    def _submitted(self, task: Task, program: str) -> "Future[Verdict]":
        key = (task.id, program)
        if key not in self._judged:
            self._judged[key] = submit(task, program)
        return self._judged[key]


def _listed(programs: Any) -> list[str]:
    return [programs] if isinstance(programs, str) else list(programs)


def _original(name: str) -> dict[str, Any]:
    """The settings of a stock task, without fetching a judge from the Hub."""
    place = Path(lm_eval.tasks.__file__).parent / name.split("_")[0] / f"{name}.yaml"
    with _no_judge():
        found: dict[str, Any] = load_yaml(place)
    return found


@contextmanager
def _no_judge() -> Iterator[None]:
    """Disables the judge that stock modules would fetch and run on import, and unloads these modules
    afterwards."""
    before, load = set(sys.modules), evaluate.load
    evaluate.load = lambda *_, **__: SimpleNamespace(compute=lambda **_: ({}, {}))
    try:
        yield
    finally:
        evaluate.load = load
        for module in [one for one in sys.modules if one not in before and one.startswith("lm_eval.tasks.")]:
            del sys.modules[module]


if __name__ == "__main__":
    print(FOLDER)
