"""DPO with TRL on the rollouts of runs: each passed answer is preferred to each failed answer to its task.

    strop build preferences RUN... -o preferences.jsonl --pairs pairs.jsonl
    python examples/trl_dpo.py MODEL pairs.jsonl [STEPS]

A pair's prompt is the task as a chat prompt. Evaluate the result like any model: strop eval trl-dpo ...
"""

import sys

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer


def main(model: str, pairs: str, steps: int = 100) -> None:
    """Trains the model and writes it to trl-dpo/."""
    data = load_dataset("json", data_files=pairs, split="train")
    settings = DPOConfig(
        "trl-dpo", max_steps=steps, logging_steps=1, report_to="none", beta=0.1, learning_rate=1e-6,
        bf16=torch.cuda.is_available(), save_strategy="no",
    )  # fmt: skip
    policy, tokenizer = AutoModelForCausalLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    trainer = DPOTrainer(policy, args=settings, train_dataset=data, processing_class=tokenizer)
    trainer.train()
    trainer.save_model("trl-dpo")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
