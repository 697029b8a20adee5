"""A watchdog: names the processes of a run that make no progress, with what they are doing, and ends the run.

A thread in every process writes its progress to RUN/launch/ranks/N.json and reads that of the others. A process whose
work has not advanced (`core.progress`) for `launch.stall_minutes` is late, unless it waits for others; if all wait for
each other, all are late. A stage that waits for something with a longer deadline in the recipe, such as a server's
answer, may take that long. Time in which the watching process itself did not run is not counted, so an entire run may
be stopped and continued.

Each process that still responds writes its Python stacks to RUN/launch/ranks/N.stacks. The first of them reports on
stderr who is late, and writes the stacks to RUN/launch/late.txt and error.txt. Then all exit with code STALLED, upon
which a SLURM job tries again; the launcher ends those that do not respond.
"""

import faulthandler
import json
import math
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from strop.config.schema import Recipe
from strop.reports.run_folder import ERROR, LAUNCH
from strop.training.ranks import Ranks
from strop_verify.core.progress import PROGRESS

STALLED = 75
"""Exit code of a run that was ended for lack of progress: EX_TEMPFAIL in sysexits.h, which means try again."""
LATE = Path(LAUNCH, "late.txt")
"""File in a run that says which processes were late since the last launch."""
RANKS = Path(LAUNCH, "ranks")
_LOOKS = 20
"""Number of looks in the time after which a process is late."""
_LONGEST = 15.0
"""Maximum seconds between two looks."""
_BUSY = 0.2
"""Share of one core, between two looks, that counts as progress in a busy stage."""
_BYTES = 1 << 20
"""Bytes read or written between two looks that count as progress in a busy stage."""
_STATES = {
    "R": "running", "S": "sleeping", "D": "waiting for a disk", "T": "stopped", "t": "stopped by a debugger",
    "Z": "ended",
}  # fmt: skip


@dataclass(frozen=True)
class RankReport:
    """What a process reports about itself; `look` counts its looks, `moved` its progress."""

    pid: int
    host: str
    look: int = 0
    moved: int = 0
    doing: str = "the start"
    most: float = 0.0
    waits: bool = False


@dataclass
class _Seen:
    """A process as seen by another: seconds since it last made progress (`silent`) and last responded (`mute`)."""

    report: RankReport
    silent: float = 0.0
    mute: float = 0.0


@contextmanager
def watched(recipe: Recipe, ranks: Ranks) -> Iterator[None]:
    """Makes this process watch itself and its peers, if a launcher started it."""
    if ranks.world == 1 and "RANK" not in os.environ:
        yield
        return
    watch = RankWatch(recipe.run.folder, ranks, 60 * recipe.launch.stall_minutes)
    watch.start()
    try:
        yield
    finally:
        watch.close()


class RankWatch(threading.Thread):
    """The thread with which one process watches itself and all others."""

    def __init__(self, run: Path, ranks: Ranks, seconds: float) -> None:
        super().__init__(name="watch", daemon=True)
        self._run, self._rank, self._world, self._seconds = run, ranks.rank, ranks.world, seconds
        self._between = min(_LONGEST, seconds / _LOOKS)
        self._over = threading.Event()
        self._own = RankReport(os.getpid(), socket.gethostname())
        nothing = RankReport(0, "")
        self._seen = [_Seen(nothing) for _ in range(ranks.world)]
        self._used, self._busy = _used(), 0
        (run / RANKS).mkdir(parents=True, exist_ok=True)
        if ranks.main:
            (run / LATE).unlink(missing_ok=True)
        self._written = open(self._file(self._rank, "stacks"), "w", encoding="utf-8")  # noqa: SIM115
        self._write(self._own)
        self._leave_stacks_if_stuck()

    def close(self) -> None:
        """Stops watching; from here on this process is never late."""
        self._over.set()
        self.join()
        faulthandler.cancel_dump_traceback_later()
        self._written.close()
        self._write(replace(self._own, doing="done", most=math.inf))

    def run(self) -> None:
        """Looks at all processes at intervals and ends the run if one is late."""
        before = time.monotonic()
        while not self._over.wait(self._between):
            self._leave_stacks_if_stuck()
            now = time.monotonic()
            passed, before = min(now - before, 2 * self._between), now
            self._say(passed)
            self._look(passed)
            if late := self._late():
                self._end(late)

    def _leave_stacks_if_stuck(self) -> None:
        """Writes the stacks unless called again in time, even if some thread never releases the interpreter's lock."""
        faulthandler.dump_traceback_later(self._seconds / 2, file=self._written)

    def _file(self, rank: int, kind: str) -> Path:
        return self._run / RANKS / f"{rank}.{kind}"

    def _say(self, passed: float) -> None:
        """Writes this process's progress for the others."""
        stages, own = PROGRESS.stages, self._own
        used, self._used = self._used, _used()
        cpu, data = (new - old for new, old in zip(self._used, used, strict=True))
        self._busy += any(stage.busy for stage in stages) and (cpu > _BUSY * passed or data > _BYTES)
        most, waits = max((stage.most for stage in stages), default=0.0), any(stage.waits for stage in stages)
        moved = PROGRESS.beats + self._busy
        self._own = RankReport(own.pid, own.host, own.look + 1, moved, str(PROGRESS), most, waits)
        self._write(self._own)

    def _write(self, report: RankReport) -> None:
        """Writes the report for the others; a failed write is retried at the next look."""
        part = self._file(self._rank, "part")
        with suppress(OSError):
            part.write_text(json.dumps(asdict(report)))
            part.replace(self._file(self._rank, "json"))

    def _look(self, passed: float) -> None:
        """Updates what is known about each process."""
        for rank, seen in enumerate(self._seen):
            report = seen.report
            if rank == self._rank:
                report = self._own
            else:
                with suppress(OSError, ValueError, TypeError):
                    report = RankReport(**json.loads(self._file(rank, "json").read_bytes()))
            still = report.pid == seen.report.pid
            seen.silent = seen.silent + passed if still and report.moved == seen.report.moved else 0.0
            seen.mute = seen.mute + passed if still and report.look == seen.report.look else 0.0
            seen.report = report

    def _late(self) -> list[int]:
        """The processes that the others wait for; if some do not respond, only those."""
        silent = [
            rank for rank, seen in enumerate(self._seen) if seen.silent > max(self._seconds, seen.report.most)
        ]
        if mute := [rank for rank in silent if self._mute(rank)]:
            return mute
        busy = [rank for rank in silent if not self._seen[rank].report.waits]
        return busy or (silent if len(silent) == self._world else [])

    def _mute(self, rank: int) -> bool:
        return self._seen[rank].mute > self._seconds / 2

    def _end(self, late: Sequence[int]) -> None:
        """Writes this process's stacks, lets the first responding process report who is late, and exits."""
        faulthandler.cancel_dump_traceback_later()
        self._written.truncate(0)
        faulthandler.dump_traceback(file=self._written, all_threads=True)
        answering = [rank for rank in range(self._world) if not self._mute(rank)]
        if self._rank == min(answering):
            self._wait(lambda: all(self._stacks(rank) for rank in late if rank in answering))
            self._tell(late)
        else:
            self._wait((self._run / LATE).is_file)
        os._exit(STALLED)

    def _wait(self, condition: Callable[[], bool]) -> None:
        """Waits until the condition is true, or for the time of a few looks."""
        end = time.monotonic() + 4 * self._between + 1.0
        while not condition() and time.monotonic() < end:
            time.sleep(0.05)

    def _stacks(self, rank: int) -> str:
        try:
            return self._file(rank, "stacks").read_text(encoding="utf-8", errors="replace").lstrip("\0")
        except OSError:
            return ""

    def _tell(self, late: Sequence[int]) -> None:
        """Reports who is late, and writes that with all stacks to the run folder."""
        said = "; ".join(map(self._described, late))
        limit = f"launch.stall_minutes={self._seconds / 60:g}"
        cause = f"the run has stalled ({limit}): {said}; resume with: strop train --resume {self._run}"
        stacks = "".join(
            f"\nprocess {rank} of {self._world}, {self._seen[rank].report.doing}:\n{text or 'no stacks'}\n"
            for rank in range(self._world)
            if (text := self._stacks(rank)) or rank in late
        )
        with suppress(OSError):
            with open(self._run / ERROR, "a", encoding="utf-8") as file:
                file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}, process {self._rank}: {cause}\n{stacks}\n")
            part = self._run / LAUNCH / "late.part"
            part.write_text(f"{cause}\n{stacks}")
            part.replace(self._run / LATE)
        where = f"; stacks in {self._run / LATE}"
        print(f"error: {cause}{where}", file=sys.stderr, flush=True)

    def _described(self, rank: int) -> str:
        """A late process: what it is doing, for how long and, if it does not respond, its state."""
        seen = self._seen[rank]
        report = seen.report
        if not report.pid:
            return f"process {rank} of {self._world} never reported"
        who = f"process {rank} of {self._world} (pid {report.pid} on {report.host})"
        text = f"{who} has been silent for {seen.silent:.0f} s in: {report.doing}"
        if not self._mute(rank):
            return text
        if report.host != self._own.host:
            return f"{text}; it does not answer, and its state cannot be seen from {self._own.host}"
        return f"{text}; it does not answer: /proc says it is {_state(report.pid)}"


def longest_wait(recipe: Recipe) -> float:
    """Maximum seconds that the recipe lets a play wait: for a server's answer, or for a verdict and its retry."""
    asked = sum(float(getattr(recipe.policy, name, 0.0)) for name in ("timeout_seconds", "retry_seconds"))
    return max(2 * recipe.sandbox.wall_seconds, asked)


def _used() -> tuple[float, float]:
    """(CPU seconds, bytes read and written) of this process."""
    found = 0
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/io").read_text().splitlines():
            name, _, count = line.partition(": ")
            found += int(count) if name in ("rchar", "wchar", "read_bytes") else 0
    return time.process_time(), found


def _state(pid: int) -> str:
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"
    return f"{_STATES.get(letter, 'in state')} ({letter})"
