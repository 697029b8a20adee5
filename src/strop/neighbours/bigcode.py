"""Runs bigcode-evaluation-harness with Strop's judge: its `main.py`, from a checkout, with all of its options.

    python -m strop.neighbours.bigcode --tasks humaneval --model ...

Supports its tasks of Python functions, with their prompts, stop words and truncation. Others are refused, because their
answers would run outside the jail. `--allow_code_execution` and HF_ALLOW_CODE_EVAL are not needed.
"""

from statistics import fmean
from typing import Any

from bigcode_eval import tasks

from strop.evaluation.statistics import pass_at_k
from strop.neighbours.evaluators import harness_task, submit, verdict_of

JUDGED = (
    "humaneval",
    "humaneval-unstripped",
    "humanevalplus",
    "humanevalplus-unstripped",
    "instruct-humaneval",
    "instruct-humaneval-nocontext",
    "mbpp",
)


def judged(original: Any) -> Any:
    """A task of the harness whose answers Strop judges."""

    class BigcodeJudged(original):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.requires_execution = False  # the harness itself runs nothing

        def process_results(self, generations: list[list[str]], references: list[str]) -> dict[str, float]:
            """The pass rates under the original's names. Raises VerificationError if an answer could not be judged."""
            rows = {self.get_reference(row): row for row in self.get_dataset()}
            asked = [harness_task(rows[reference]) for reference in references]
            pairs = list(zip(asked, generations, strict=True))
            judging = [[submit(task, program) for program in programs] for task, programs in pairs]
            right = [
                [verdict_of(task, one).passed for one in several]
                for task, several in zip(asked, judging, strict=True)
            ]
            least = min(map(len, right))
            ks = [k for k in getattr(self, "k", (1, 10, 100)) if k <= least]
            return {f"pass@{k}": fmean(pass_at_k(len(one), sum(one), k) for one in right) for k in ks}

    return BigcodeJudged


def main() -> None:
    """Runs the command line."""
    kept = {name: judged(tasks.TASK_REGISTRY[name]) for name in JUDGED}
    tasks.TASK_REGISTRY.clear()
    tasks.TASK_REGISTRY.update(kept)
    tasks.ALL_TASKS[:] = JUDGED
    from main import main as theirs  # from the checkout; importing it lists the tasks

    theirs()


if __name__ == "__main__":
    main()
