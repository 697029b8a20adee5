"""An evaluator that needs only strop-verify: pass@1 of answers, and how far each pass can be trusted.

    python examples/evaluator.py TASKS.jsonl ANSWERS.jsonl

A line of TASKS is a task (docs/formats.md), a line of ANSWERS {"task_id": ..., "answer": CODE}. An *error* is the
grader's fault: it counts neither as a pass nor as a failure.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from strop_verify import Task, open_verifier


def main(tasks_file: str, answers_file: str) -> None:
    """Judges the answers and prints a line for each outcome."""
    lines = Path(tasks_file).read_text(encoding="utf-8").splitlines()
    tasks = {task.id: task for task in map(Task.model_validate_json, lines)}
    rows = [json.loads(line) for line in Path(answers_file).read_text(encoding="utf-8").splitlines()]
    with open_verifier() as verifier:
        futures = [verifier.submit(tasks[row["task_id"]], row["answer"]) for row in rows]
        verdicts = [future.result() for future in futures]
    scored = [verdict for verdict in verdicts if verdict.scored]
    print(
        f"pass@1 {sum(verdict.passed for verdict in scored) / max(1, len(scored)):.3f} of {len(scored)} answers"
    )
    for (outcome, trust), count in Counter((v.outcome.value, v.trust or "") for v in verdicts).items():
        print(f"{count:5} {outcome} {trust}".rstrip())


if __name__ == "__main__":
    main(*sys.argv[1:])
