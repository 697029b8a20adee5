"""Speed and cost of `strop view` on a large run: a synthetic run of 50,000 rollouts, with the real command.

    first_page       seconds from the command's start (Python included) to the document and /api/page, both answered
    indexed          seconds until every rollout was read
    slowest_while    slowest /api/rows and /api/detail meanwhile, with the requests of a browser
    page_mb          the whole page, which is sent again after a change
    search, task     seconds of a text search and of a task's history over the whole run
    detail           seconds to open one rollout
    peak_mb          largest resident memory of the server

Run: python benchmarks/view.py [--steps 391] [--run FOLDER] [--json FILE]. Making the run takes a while; `--run` uses an
existing one.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
GROUPS, SIZE, TOKENS = 8, 16, 100


def made(folder: Path, steps: int) -> Path:
    from tests.reports.made_runs import make_run

    started = time.monotonic()
    make_run(
        folder, steps=steps, groups=GROUPS, size=SIZE, tokens=TOKENS, language="rust", tasks=200, held_out=50
    )
    print(f"made {steps * GROUPS * SIZE} rollouts in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return folder


def timed(call: Callable[[], httpx.Response]) -> tuple[float, Any]:
    started = time.monotonic()
    answer = call()
    answer.raise_for_status()
    return time.monotonic() - started, answer


def measure(folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    started = time.monotonic()
    command = [sys.executable, "-m", "strop.cli", "view", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[0]
            found["listening"] = time.monotonic() - started
            with httpx.Client(base_url=url, timeout=120) as client:
                client.get("/").raise_for_status()
                page = client.get("/api/page").raise_for_status().json()
                found["first_page"] = time.monotonic() - started
                assert page["runs"][0]["metrics"]
                found |= follow(client, page["runs"][0], started)
                status = Path(f"/proc/{server.pid}/status").read_text()
                found["peak_mb"] = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)
    return found


def follow(client: httpx.Client, run: dict[str, Any], started: float) -> dict[str, float]:
    slowest, step = 0.0, run["steps"][len(run["steps"]) // 2]
    polling = threading.Thread(target=poll, args=(client,))
    polling.start()
    while polling.is_alive():
        seconds, answer = timed(lambda: client.get("/api/rows", params={"step": step}))
        slowest = max(slowest, seconds)
        seconds, answer = timed(lambda: client.get("/api/detail", params={"id": f"t.{step}.3.1"}))
        assert answer.json()["detail"]
        slowest = max(slowest, seconds)
        time.sleep(0.1)
    indexed = time.monotonic() - started
    task = next(iter(client.get("/api/page").json()["runs"][0]["tasks"]))
    search, answer = timed(lambda: client.get("/api/search", params={"text": "let mut", "limit": 200}))
    print(f"the search matches {answer.json()['matched']} rollouts", file=sys.stderr)
    return {
        "indexed": indexed,
        "slowest_while": slowest,
        "search": search,
        "task": timed(lambda: client.get("/api/task", params={"task": task}))[0],
        "detail": timed(lambda: client.get("/api/detail", params={"id": f"t.{step}.3.1"}))[0],
        "page_later": timed(lambda: client.get("/api/page"))[0],
        "page_mb": len(client.get("/api/page").content) / 1e6,
    }


def poll(client: httpx.Client) -> None:
    stamp, complete = "?", False
    while not complete:
        answer = client.get("/api/page", params={"stamp": stamp}).raise_for_status().json()
        stamp, runs = answer["stamp"], answer.get("runs") or answer.get("changed", ())
        complete = any(run.get("index", {}).get("complete") for run in runs)
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=391)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.run or made(Path(scratch) / "large", options.steps)
        found = measure(folder)
    for name, value in found.items():
        print(f"{name:<16}{value:10.3f}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
