"""Toolboxes in TRL's own loop: its trainer finds the tools, a tiny model calls one, the verifier gives the reward."""

import json
from pathlib import Path

import pytest

import strop
from strop.neighbours.trl import tool_environment
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

RIGHT, WRONG = (f"def double(x):\n    return {body}\n" for body in ("2 * x", "0"))
EQUAL = (
    "class Any:\n    def __eq__(self, other): return True\n    __ne__ = None\ndef double(x): return Any()\n"
)
DOUBLE = Task(
    id="double",
    statement="Double it.",
    signature="def double(x):",
    check=CasesCheck(entry_point="double", cases=[Case(args=[1], expected=2), Case(args=[0], expected=0)]),
)


class Pen(strop.Toolbox):
    """One tool."""

    @strop.tool
    def put(self, text: str) -> str:
        """Writes the solution.

        Args:
            text: all of it
        """
        self.folder.put({"solution.py": text})
        return f"{len(text)} characters"


@pytest.mark.jail
def test_an_environment_plays_and_is_used_again(verifier):
    environment = tool_environment(verifier=verifier)()
    for text, reward in ((RIGHT, 1.0), (WRONG, 0.0), (EQUAL, 0.0)):
        said = environment.reset(prompt=[], task=DOUBLE.model_dump_json(), other=1)
        assert said == "\n\nFiles:\nsolution.py"
        assert "double" in environment.read(path="solution.py") and "2 * x" not in environment.read(
            path="solution.py"
        )
        assert "wrote solution.py" in environment.write(path="solution.py", text=text)
        assert "path is missing" in environment.read(file="x")
        assert environment.finish() == "finished"
        assert environment.write(path="solution.py", text=RIGHT) == "the work is finished"
        assert environment.get_reward() == reward
    rust = DOUBLE.model_copy(update={"id": "r", "language": "rust"})
    environment.reset(task=rust.model_dump_json())
    assert environment.get_reward() is None
    with pytest.raises(UserError, match="not a task line"):
        environment.reset(task="{")


def test_the_class_has_the_tools_and_no_other_public_method():
    kind = tool_environment(Pen)
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert public == {"put", "finish", "reset", "get_reward"} and kind.__name__ == "Pen"
    with pytest.raises(UserError, match="not a Toolbox subclass"):
        tool_environment(Task)


@pytest.mark.train(40)
def test_two_steps_of_its_trainer(tmp_path, verifier):
    trl = pytest.importorskip("trl")
    from datasets import Dataset
    from tests.small_models import byte_tokenizer, write_speaker
    from tokenizers import AddedToken

    call = {"name": "put", "arguments": {"text": RIGHT}}
    said = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    template = Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja"
    tokenizer = byte_tokenizer(template.read_text())
    tokenizer.add_tokens([AddedToken(said, normalized=False), AddedToken("<|im_end|>", special=True)])
    tokenizer.eos_token = "<|im_end|>"
    newline = tokenizer.encode("\n", add_special_tokens=False)
    spoken = tokenizer.convert_tokens_to_ids([said, "<|im_end|>"])
    after = tokenizer.convert_ids_to_tokens(newline)[0]
    model = write_speaker(tmp_path / "model", tokenizer, after, spoken, generation_eos=spoken[1])
    rows = [{"prompt": [{"role": "user", "content": "Double it."}], "task": DOUBLE.model_dump_json()}] * 2
    trainer = trl.GRPOTrainer(
        model=str(model),
        processing_class=tokenizer,
        environment_factory=tool_environment(Pen, verifier=verifier),
        train_dataset=Dataset.from_list(rows),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path / "out"), max_steps=2, num_generations=2, per_device_train_batch_size=2,
            max_completion_length=600, max_tool_calling_iterations=1, report_to="none", use_cpu=True, logging_steps=1,
            save_strategy="no", learning_rate=1e-9, bf16=False,
        ),
    )  # fmt: skip
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "rewards/Pen/mean" in entry]
    assert [entry["rewards/Pen/mean"] for entry in logged] == [1.0, 1.0]
    assert [entry["tools/call_frequency"] for entry in logged] == [1.0, 1.0]
    assert [entry["tools/failure_frequency"] for entry in logged] == [0.0, 0.0]
