"""Servers of suggestions whose answers are known."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "src", ROOT / "verify/src", ROOT / "tasks/src"]
SERVE = [sys.executable, "-m", "strop.cli", "serve-edits"]


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES))}


@pytest.fixture
def says(tmp_path: Path) -> Callable[..., list[str]]:
    """The command of a server that says these texts in turn, with its log in the folder `log`."""

    def command(*answers: str) -> list[str]:
        script = tmp_path / "script.jsonl"
        script.write_text("".join(json.dumps({"task_id": "edit", "answer": one}) + "\n" for one in answers))
        return [*SERVE, "--model", f"scripted:{script}", "--log", str(tmp_path / "log"), "--port", "0"]

    return command


@pytest.fixture
def listening(environment: dict[str, str]) -> Iterator[Callable[..., httpx.Client]]:
    """Starts a server without an editor; a client that asks it."""
    started: list[tuple[subprocess.Popen[str], httpx.Client]] = []

    def start(command: list[str]) -> httpx.Client:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        )
        assert process.stderr is not None
        said = ""
        while "suggesting with" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        url = said.partition(" over ")[2].partition(";")[0]
        client = httpx.Client(base_url=url, timeout=60)
        started.append((process, client))
        wait_until(lambda: client.get("/health").status_code == 200, process)
        return client

    yield start
    for process, client in started:
        client.close()
        process.terminate()
        process.communicate(timeout=60)
