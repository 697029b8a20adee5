"""Plays here and on a Ray cluster of two nodes: `python tests/rollouts/ray_run.py FOLDER` prints what came of them.

A program of its own, since Ray stays in the process that joins a cluster.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import ray
from ray.cluster_utils import Cluster

from strop.config.load import load_recipe
from strop.environments.registry import played_by
from strop.environments.repository_tools import RepositoryTools
from strop.environments.toolbox import tools_of
from strop.policies.scripted import ScriptedPolicy
from strop.policies.tokenizer import WireTokenizer
from strop.policies.tool_calls import CALL_FORMS, ToolCall
from strop.rollouts.dispatcher_factory import dispatcher_of
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import SamplingParams
from strop_verify.core.task import Task
from strop_verify.verification import open_configured

WIRE, TOOLS = WireTokenizer(), tools_of(RepositoryTools)
OWN = """
import json
import urllib.request

def agent(url, task, workspace):
    messages = [{"role": "user", "content": task.statement}]
    for _ in range(2):
        body = json.dumps({"model": "policy", "messages": messages}).encode()
        asked = urllib.request.Request(url + "/chat/completions", body, {"Content-Type": "application/json"})
        said = json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"]
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "again"}]
    workspace.put({"solution.py": said})

class Wrong:
    def __init__(self, task, opening, read): self.opening = opening
    def setup(self): pass
    def begin(self): return self.opening
    def step(self, completion): return 1 / 0
"""


def task(number: int) -> Task:
    check = CasesCheck(entry_point="f", cases=[Case(args=[1], expected=1 + number)])
    return Task(
        id=f"t{number:03}", statement=f"Add {number}.", check=check, signature="def f(x: int) -> int:"
    )


def code(prompt: Sequence[int]) -> str:
    """The right code for every other task."""
    number = int(WIRE.decode(prompt).partition("Add ")[2].partition(".")[0])
    return f"def f(x):\n    return x + {number if number % 2 else -1}\n"


def works(prompt: Sequence[int], seed: int, index: int) -> str:
    """Turns of a workspace: looks, writes, tests, finishes."""
    turn = WIRE.decode(prompt).count("turns left]") + WIRE.decode(prompt).count("turn left]")
    calls = [
        ToolCall("run", {"command": f"python3 -c 'print({seed} * 3)'; ls"}),
        ToolCall("write", {"path": "solution.py", "text": code(prompt)}),
        ToolCall("test", {}),
        ToolCall("finish", {}),
    ]
    return CALL_FORMS["tags"].write(calls[turn], TOOLS)


def answers(prompt: Sequence[int], seed: int, index: int) -> str:
    """Code alone; in the second turn of a task, nothing but a comment."""
    return f"# {seed}\n{code(prompt)}"


def played(recipe: Any, policy: ScriptedPolicy, tasks: Sequence[Task], where: str) -> dict[str, Any]:
    recipe = recipe.model_copy(update={"launch": recipe.launch.model_copy(update={"environments": where})})
    with ExitStack() as stack:
        verifier = open_configured(recipe.sandbox, recipe.verifier)
        stack.callback(verifier.close)
        player = dispatcher_of(recipe, policy, verifier, played_by(recipe), stack=stack)
        rollouts = [*player.play(tasks, 2, SamplingParams(max_tokens=4000), seed=1)]
        lines = [one.model_dump(mode="json") for one in sorted(rollouts, key=lambda r: (r.task_id, r.index))]
        return {"rollouts": timeless(lines), "count": vars(player.count)}


def timeless(value: Any) -> Any:
    """The value without what differs from run to run: measured times and bytes."""
    if isinstance(value, dict):
        measured = ("seconds", "cpu_seconds", "peak_bytes")
        return {key: timeless(one) for key, one in value.items() if key not in measured}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def killing(script: Callable[..., str], at: int) -> Callable[..., str]:
    """The script, which kills an actor over its request number `at`."""
    asked = 0

    def says(prompt: Sequence[int], seed: int, index: int) -> str:
        nonlocal asked
        asked += 1
        if asked == at:
            actors = [
                one
                for one in psutil.process_iter(["cmdline"])
                if "ray::PlayActor" in " ".join((one.info["cmdline"] or [])[:1])
            ]
            assert len(actors) == 2, actors
            os.kill(actors[0].pid, signal.SIGKILL)
        return script(prompt, seed, index)

    return says


def main(folder: Path) -> None:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    (folder / "own.py").write_text(OWN)
    tasks, found = [task(number) for number in range(5)], dict[str, Any]()
    try:
        for name, script in (("workspace", works), ("feedback", answers), ("harness", answers)):
            words = ["verifier.engine=ray", "verifier.workers=1", f"tasks.environment.type={name}"]
            words += [f"tasks.environment.play={folder}/own.py:agent"] * (name == "harness")
            recipe = load_recipe(["demo"], words)
            found[name] = [played(recipe, ScriptedPolicy(script), tasks, where) for where in ("local", "ray")]
            if name == "workspace":
                found["killed"] = played(recipe, ScriptedPolicy(killing(works, 15)), tasks, "ray")
        recipe = load_recipe(
            ["demo"], ["verifier.engine=ray", f"tasks.environment.type={folder}/own.py:Wrong"]
        )
        found["mistakes"] = []
        for where in ("local", "ray"):
            try:
                played(recipe, ScriptedPolicy(answers), tasks[:1], where)
            except UserError as error:
                found["mistakes"].append(str(error))
        print(json.dumps(found))
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
