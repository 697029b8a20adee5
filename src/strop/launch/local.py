"""A plan as processes on this machine: the first part to end ends all, and so does Ctrl-C, and kill -9 of this one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from strop.launch.plan import Part, Plan, training_words
from strop.reports.run_folder import STOP, SUMMARY
from strop.training.watch import LATE, STALLED
from strop_verify.core.errors import StropError, UserError
from strop_verify.sandbox.kernel import die_with_parent

GRACE = 45.0
"""Seconds that a part has to end by itself: torch.distributed.run gives its processes 30."""


class PartEnded(StropError):
    """A part of a run ended before the run did."""


def gpus_here() -> int:
    """NVIDIA GPUs of this machine."""
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def refuse(plan: Plan) -> None:
    """Raises UserError where the plan asks for more than one machine, or for more GPUs than this one has."""
    launch, there, needed = plan.recipe.launch, gpus_here(), sum(part.gpus for part in plan.parts)
    if launch.nodes > 1 or launch.verifiers:
        raise UserError(
            "the plan has several nodes (launch.nodes, launch.verifiers), and here is one; add --slurm"
        )
    if there and there < needed:
        raise UserError(
            f"the plan takes {needed} GPUs, and here are {there}; lower launch.processes or launch.servers"
        )


def run(plan: Plan, say: Callable[[str], None]) -> int:
    """Carries out a plan; the code that the trainer ended with, STALLED where it stood still. Raises PartEnded where
    another part ends first.
    """
    there = gpus_here() if plan.recipe.launch.device == "gpu" else 0
    if not there and plan.recipe.launch.device == "gpu":
        say("no GPU here: every part runs on the CPU")
    for leftover in (plan.run / STOP, plan.run / LATE, *plan.folder.glob("*.url")):
        leftover.unlink(missing_ok=True)
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        taken = 0
        for part in plan.parts:
            devices = range(taken, taken + part.gpus) if there and len(plan.parts) > 1 else None
            taken += part.gpus
            running[part.name] = _started(plan, part, devices)
        if len(running) > 1:
            say(f"started {', '.join(running)}; their logs are in {plan.folder}")
        while True:
            for name, process in running.items():
                if (code := process.poll()) is not None:
                    if name != "trainer" and not (plan.run / SUMMARY).is_file():
                        raise PartEnded(f"{name} ended with code {code}; see {plan.folder / name}.log")
                    code = running["trainer"].wait(GRACE) if name != "trainer" else code
                    return STALLED if code and (plan.run / LATE).is_file() else code
            time.sleep(0.1)
    finally:
        _stop(running)


def _started(plan: Plan, part: Part, devices: range | None) -> "subprocess.Popen[bytes]":
    """A part in a session of its own: only this process hears Ctrl-C, and passes it on. It is told to end when this
    process does. The trainer writes here.
    """
    environment = {**os.environ, **plan.environment}
    dies = partial(die_with_parent, os.getpid(), signal.SIGTERM)
    if devices is not None:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
    python = plan.python(sys.executable)
    if not part.trains:
        with (plan.folder / f"{part.name}.log").open("ab") as log:
            return subprocess.Popen(
                [*python, *part.words], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=dies,
            )  # fmt: skip
    ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(part.processes)]
    if part.processes == 1:
        ranks, environment["RANK"] = [], "0"
    words = [*part.words, *training_words(plan.run)]
    return subprocess.Popen(
        [*python, *ranks, *words], env=environment, stdin=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=dies,
    )  # fmt: skip


def _stop(running: "Mapping[str, subprocess.Popen[bytes]]") -> None:
    """Ends every part, with all that it started; a second Ctrl-C does not wait."""
    for process in running.values():
        if process.poll() is None:
            process.terminate()
    end = time.monotonic() + GRACE
    with suppress(KeyboardInterrupt):
        for process in running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
    for process in running.values():
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its session, where something is left
        process.wait()
