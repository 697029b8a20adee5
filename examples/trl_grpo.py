"""GRPO with TRL on verdicts of strop-verify, without the rest of Strop: pip install strop-verify trl.

    python examples/trl_grpo.py MODEL TASKS.jsonl [STEPS]

MODEL is a chat model, a line of TASKS a task (docs/formats.md). A verdict *error* is the grader's fault: None, not 0.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from strop_verify import Task, blocks, open_verifier


def main(model: str, tasks_file: str, steps: int = 100) -> None:
    """Trains the model; checkpoints are in trl-grpo/."""
    lines = Path(tasks_file).read_text(encoding="utf-8").splitlines()
    tasks = {task.id: task for task in map(Task.model_validate_json, lines)}
    asked = "{0.statement}\n\n{0.signature}\n\nAnswer with one fenced block of code."
    rows = [{"prompt": [{"role": "user", "content": asked.format(t)}], "id": t.id} for t in tasks.values()]
    on_gpu = torch.cuda.is_available()
    settings = GRPOConfig("trl-grpo", max_steps=steps, logging_steps=1, report_to="none", bf16=on_gpu)
    with open_verifier() as verifier:

        def passed(completions: list[Any], id: list[str], **columns: Any) -> list[float | None]:
            found = [blocks(turns[-1]["content"], "python") for turns in completions]
            answers = [fenced[-1].code if fenced else "" for fenced in found]
            futures = [verifier.submit(tasks[i], answer) for i, answer in zip(id, answers, strict=True)]
            return [float(v.passed) if v.scored else None for v in (future.result() for future in futures)]

        GRPOTrainer(model, passed, args=settings, train_dataset=Dataset.from_list(rows)).train()


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
