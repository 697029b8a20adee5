"""The wire format between `strop serve-verifier` and `RemoteVerifier`, version 1.

Every request carries `Authorization: Bearer TOKEN` and `Strop-Protocol: 1`; errors are {"error": one line}.

    GET  /v1/health   {"protocol", "strop", "workers", "capacity", "settings"}
    GET  /v1/stats    counters of the pool
    POST /v1/verify   also `Strop-Session: NAME`, chosen at random by each client
        request   one line per job:  {"id": text, "task": the task as JSON, "answer": text}
        response  one line per verdict, as they finish: {"id", "verdict"}; empty lines keep the connection alive

Sessions take turns. A job that is sent again after a lost connection joins its run if that is still in progress, and
gets its verdict at once if that was kept. A response that ends without all its verdicts was cut short.

Threat model: whoever has the token may use the machine's CPUs within the pool's limits. The channel is not encrypted:
use it on the loopback interface, in a private network or through a tunnel.
"""

import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from strop_verify.core.errors import StropError, UserError
from strop_verify.core.listening import checked_key, read_key
from strop_verify.core.task import Task
from strop_verify.core.verdict import Verdict

if TYPE_CHECKING:
    import httpx

PROTOCOL = "1"
PROTOCOL_HEADER = "Strop-Protocol"
SESSION_HEADER = "Strop-Session"
TOKEN_VARIABLE = "STROP_VERIFIER_TOKEN"
MOST_BYTES = 64 * 2**20
"""Maximum size of a request's body, in bytes."""
BEAT_SECONDS = 5.0
"""A response sends at least one line this often."""
PATIENCE_SECONDS = 60.0
"""How long answers wait while no verifier is available."""
ADDRESS_SECONDS = 600.0
"""How long to wait for an address in a file."""
_NAME_LENGTH = 200


class BadRequest(StropError):
    """A request that the server refuses; `status` is the HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class JobLine:
    """One job as a client sent it."""

    id: str
    task: Task
    answer: str


def job_line(name: str, task_json: str, answer: str) -> bytes:
    """A job as one line. `task_json` is ASCII JSON text of the task."""
    return f'{{"id":{json.dumps(name)},"task":{task_json},"answer":{json.dumps(answer)}}}\n'.encode("ascii")


def task_json(task: Task) -> str:
    """A task as ASCII JSON text. Raises ValueError for metadata that is not JSON."""
    return json.dumps(task.model_dump(mode="json"), separators=(",", ":"))


def verdict_line(name: str, verdict: Verdict) -> bytes:
    """A verdict as one line."""
    message = {"id": name, "verdict": verdict.model_dump(mode="json")}
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def parse_jobs(body: bytes) -> list[JobLine]:
    """The jobs of a request. Raises BadRequest with the number of the first bad line."""
    jobs: list[JobLine] = []
    seen: set[str] = set()
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            job = _parse_job(line)
        except (ValueError, TypeError, RecursionError) as error:
            raise BadRequest(f"line {number}: not a job: {_first_fault(error)}") from None
        if job.id in seen:
            raise BadRequest(f"line {number}: id {job.id[:60]!r} is used twice in one request")
        seen.add(job.id)
        jobs.append(job)
    if not jobs:
        raise BadRequest("line 1: the request holds no job")
    return jobs


def _parse_job(line: bytes) -> JobLine:
    row = json.loads(line)
    if not isinstance(row, dict) or set(row) != {"id", "task", "answer"}:
        raise ValueError('it must be {"id": TEXT, "task": TASK, "answer": TEXT}')
    name, answer = row["id"], row["answer"]
    if not isinstance(name, str) or not 0 < len(name) <= _NAME_LENGTH:
        raise ValueError(f"'id' must be text of 1 to {_NAME_LENGTH} characters")
    if not isinstance(answer, str):
        raise ValueError(f"'answer' must be text, not {type(answer).__name__}")
    return JobLine(name, Task.model_validate(row["task"]), answer)


def parse_verdict(line: bytes) -> tuple[str, Verdict]:
    """(id, verdict) of a response line. Raises ValueError."""
    row = json.loads(line)
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise ValueError("not a verdict line")
    return row["id"], Verdict.model_validate(row.get("verdict"))


def _first_fault(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"task: {'.'.join(map(str, first['loc'])) or 'whole'}: {first['msg']}"[:300]
    if isinstance(error, RecursionError):
        return "the JSON is nested too deep"
    return f"{error}"[:300] or type(error).__name__


def read_token(file: Path | None, environment: Mapping[str, str]) -> str:
    """The token, from a file or the environment variable STROP_VERIFIER_TOKEN. Raises UserError when there is none."""
    if file is not None:
        return read_key("--token-file", file)
    token = environment.get(TOKEN_VARIABLE, "").strip()
    if not token:
        raise UserError(
            f"a verifier over HTTP needs a token, but {TOKEN_VARIABLE} holds none; make one with "
            "`strop serve-verifier --new-token`"
        )
    return checked_key(TOKEN_VARIABLE, token)


def read_address(text: str) -> str:
    """The address; for a path, waits for the content of that file. Raises UserError after `ADDRESS_SECONDS`."""
    if "/" not in text or "://" in text:
        return text
    deadline = time.monotonic() + ADDRESS_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            if found := Path(text).read_text(encoding="utf-8").strip():
                return found
        time.sleep(0.2)
    raise UserError(f"{text} holds no address after {ADDRESS_SECONDS:g} s; check that its writer is running")


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Settings known to both sides that differ, one text each."""
    differ = (name for name in wanted if name in found and found[name] != wanted[name])
    return [f"{name} is {found[name]} there and {wanted[name]} here" for name in differ]


class Refused(Exception):
    """The server answered with a status other than 200."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(f"{status}: {message}")


def explain(body: bytes) -> str:
    """The message in the body of an error response."""
    try:
        return str(json.loads(body)["error"])[:300]
    except (ValueError, KeyError, TypeError):
        return body[:100].decode(errors="replace")


def say_hello(response: "httpx.Response", settings: Mapping[str, object]) -> Mapping[str, object]:
    """The server's greeting. Raises Refused, or ValueError if it is not a verifier or has other settings."""
    if response.status_code != 200:
        raise Refused(response.status_code, explain(response.content))
    hello = response.json()
    if not isinstance(hello, dict) or hello.get("protocol") != PROTOCOL:
        raise ValueError("it is not a verifier of this release")
    theirs = hello.get("settings")
    faults = differences(settings, theirs) if isinstance(theirs, dict) else []
    if faults:
        raise ValueError(f"its settings differ: {'; '.join(faults)}; start it with the same recipe")
    return hello
