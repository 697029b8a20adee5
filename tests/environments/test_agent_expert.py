"""What an expert says to an agent with a shell: it looks for the place, reads it, and changes it by such commands."""

import random
import subprocess
from pathlib import Path
from typing import Any

from strop.environments.agent_expert import AgentExpert
from strop.environments.task_tree import tree_of
from strop.policies.chat_options import ChatTerms
from strop.policies.chat_wire import ChatRequest, request_of
from strop.tasks.sources import load_tasks
from strop_verify.core.checks import EditCheck
from strop_verify.core.task import Task

SHELL: dict[str, Any] = {
    "name": "bash",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def asked() -> ChatRequest:
    """As mini-swe-agent asks."""
    told = [{"role": "user", "content": "Mend it. To end: echo DONE_WITH_THE_TASK"}]
    tools = [{"type": "function", "function": SHELL}]
    return request_of({"messages": told, "tools": tools}, "chat", ChatTerms(play=True), {})


def commands(task: Task, number: int) -> list[str]:
    expert = AgentExpert.of(task, 6, random.Random(number))
    assert expert is not None
    found = []
    for text in expert.answers(asked):
        tools = asked().tools
        (call,) = tools.form.read(text, tools.listed, whole=True)
        found.append(call.arguments["command"])
        if found[-1] == "echo DONE_WITH_THE_TASK":
            return found
    return found


def left(task: Task, said: list[str], folder: Path) -> dict[str, str]:
    """The files after the commands."""
    for name, data in tree_of(task).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for command in said:
        subprocess.run(["sh", "-c", command], cwd=folder, check=True, capture_output=True)
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_commands_of_a_shell_look_before_they_change(tmp_path: Path) -> None:
    kinds = set[str]()
    for number, task in enumerate(load_tasks("toy-repositories:40@3")):
        said, check = commands(task, number), task.check.only(EditCheck)
        kinds |= {command.split()[0] for command in said}
        after = left(task, [one for one in said if not one.startswith("grep")], tmp_path / str(number))
        assert all(after[path] == text for path, text in check.oracle.items()), said
        assert said[-2].startswith("sed -i ") and said[-3].startswith("cat -n "), said
    assert kinds == {"grep", "cat", "sed", "echo"}


def test_changes_of_several_lines_are_whole_files(tmp_path: Path) -> None:
    before, after = "a = 1\nb = 2\n", "a = '\\\\'\n\nb = \"3\"\nc = 4\n"
    check = EditCheck(format="unified-diff", files={"x.py": before}, oracle={"x.py": after, "y.py": "new\n"})
    task = Task(statement="Change it.", check=check)
    assert left(task, commands(task, 0), tmp_path) == {"x.py": after, "y.py": "new\n"}
