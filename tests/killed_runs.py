"""Runs in processes that kill themselves at a moment inside a step, a save or an evaluation."""

import importlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import warm

INSIDE = {
    "strop.training.feed:TaskFeed._played": "step",
    "strop.training.learner:Learner._update": "step",
    "strop.training.run:_Job._write_down": "step",
    "strop.training.online:EditEventFeed._chosen": "step",
    "strop.training.loop:Loop._save": "save",
    "strop.training.run:_Job._save_model": "save",
    "strop.training.evaluations:Evaluations._one": "evaluation",
    "strop.training.online:EditEventFeed._evaluated": "evaluation",
}
"""Functions of a run, and what goes on inside them."""
Moment = tuple[str, int]
"""What goes on, and how many calls into it."""
NEVER: Moment = ("", 0)


class Calls:
    """Counts calls, of Python and of C, inside what goes on; at a moment the process kills itself."""

    def __init__(self, moment: Moment) -> None:
        self.counted: Counter[str] = Counter()
        self._moment = moment
        for place, what in INSIDE.items():
            module, _, name = place.partition(":")
            owner, _, method = name.partition(".")
            found = getattr(importlib.import_module(module), owner)
            setattr(found, method, self._counting(getattr(found, method), what))

    def _counting(self, function: Callable[..., Any], what: str) -> Callable[..., Any]:
        def called(frame: Any, event: str, _: Any) -> None:
            if event in ("call", "c_call"):
                self.counted[what] += 1
                if (what, self.counted[what]) == self._moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        def counting(*given: Any, **named: Any) -> Any:
            before = sys.getprofile()
            sys.setprofile(called)
            try:
                return function(*given, **named)
            finally:
                sys.setprofile(before)

        return counting


def counted(
    place: dict[str, str], moment: Moment, counts: str, work: Callable[..., None], *given: Any
) -> None:
    """A process's whole life: does the work, and writes down its counts."""
    os.environ.update(place)
    calls = Calls(moment)
    try:
        work(*given)
    finally:
        Path(counts).write_text(json.dumps(calls.counted))


def command(place: dict[str, str], *words: str) -> None:
    with tempfile.TemporaryFile("w+") as said:
        path, errors = f"/proc/self/fd/{said.fileno()}", os.dup(2)
        try:
            warm._run(list(words), path, path, os.getcwd(), {**os.environ, **place})
        except SystemExit as end:
            if end.code:
                said.seek(0)
                os.write(errors, said.read()[-2000:].encode())
            raise


def with_engines(site: str, *words: str) -> None:
    """A command that finds the packages in a folder."""
    sys.path.insert(0, site)
    command({}, *words)


def rounds(edits: str, model: str, folder: str) -> None:
    from tests.training.test_online import EditorLog, recipe_for, rounds_of

    made = recipe_for(Path(folder), Path(edits), Path(model))
    heard = EditorLog(made, accepts=lambda at: at % 3 == 0)
    resume = (Path(folder) / "recipe.yaml").is_file()
    rounds_of(made, heard, resume=resume)


def lived(
    counts: Path, moment: Moment, work: Callable[..., None], *given: Any, world: int = 1, who: int = 0
) -> bool:
    """Does the work in so many processes, of which one kills itself at a moment; whether they came to the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        shared = {
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free.getsockname()[1]),
        }
    processes = []
    for rank in range(world):
        place = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} if world > 1 else {}
        arguments = (place, moment if rank == who else NEVER, f"{counts}.{rank}", work)
        more = (place, *given) if work is command else given
        processes.append(warm._CONTEXT.Process(target=counted, args=(*arguments, *more)))
    for process in processes:
        process.start()
    end = time.monotonic() + 900
    while any(process.exitcode is None for process in processes):
        if any(process.exitcode for process in processes) or time.monotonic() > end:
            for process in processes:  # as what launched them does
                process.kill()
        time.sleep(0.02)
    codes = [process.exitcode for process in processes]
    assert codes in ([0] * world, *([[-signal.SIGKILL] * world] if moment != NEVER else [])), codes
    return codes == [0] * world
