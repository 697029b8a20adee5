"""Inspect evaluates two models on Strop's tasks, and runs a command in Strop's jail. Argument: where logs go."""

import sys

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, TaskState, generate, solver
from inspect_ai.util import sandbox

from strop.neighbours.inspect import dataset, verdict
from strop.tasks import load_tasks

EQUAL = (
    "```python\nclass Any:\n    def __eq__(self, other): return True\n\ndef {0}(*a, **k): return Any()\n```"
)


@solver
def in_jail():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        done = await sandbox().exec(["sh", "-c", "pwd; cat given.txt; ls /root 2>&1"])
        state.output = ModelOutput.from_content("none", done.stdout)
        return state

    return solve


@task
def jailed() -> Task:
    sample = Sample(input="?", target="/app\nthe file", files={"given.txt": "the file\n"})
    return Task(dataset=MemoryDataset([sample]), solver=in_jail(), scorer=includes(), sandbox="strop")


def asked(answers: list[str]) -> dict[str, float]:
    outputs = [ModelOutput.from_content("m", answer) for answer in answers]
    for output in outputs:
        output.usage = ModelUsage(total_tokens=1)  # else they are counted with a vocabulary from the network
    model = get_model("mockllm/model", custom_outputs=outputs)
    made = Task(dataset=dataset("python-functions", limit=3), solver=generate(), scorer=verdict())
    (log,) = eval(made, model=model, display="none", log_dir=sys.argv[1], max_connections=1, max_samples=1)
    assert log.status == "success", log.error.message
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


if __name__ == "__main__":
    tasks = load_tasks("python-functions", limit=3)
    print("reference", asked([f"```python\n{one.reference}\n```" for one in tasks])["mean"])
    print("equal", asked([EQUAL.format(one.check.function) for one in tasks])["mean"])
    (log,) = eval(jailed(), model="mockllm/model", display="none", log_dir=sys.argv[1])
    assert log.status == "success", log.error.message
    print("jailed", log.results.scores[0].metrics["accuracy"].value)
