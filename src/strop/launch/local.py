"""Runs a plan as local processes, which all end when one part ends, on Ctrl-C, or when this process is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from strop.launch.plan import Part, Plan
from strop.reports.run_folder import RECIPE, STOP, SUMMARY
from strop.training.watch import LATE, STALLED
from strop_verify.core.errors import StropError, UserError
from strop_verify.sandbox.kernel import die_with_parent

GRACE = 45.0
"""Seconds between SIGTERM and SIGKILL of a part; torch.distributed.run gives its own processes 30."""


class PartEnded(StropError):
    """A part of a run ended before the run did."""


def gpus_here() -> int:
    """The number of NVIDIA GPUs of this machine, found without loading torch."""
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


def refuse(plan: Plan) -> None:
    """Raises UserError if the plan needs several machines, or more GPUs than this one has."""
    launch, there, needed = plan.recipe.launch, gpus_here(), sum(part.gpus for part in plan.parts)
    if launch.nodes > 1 or launch.verifiers:
        raise UserError(
            "the plan needs several nodes (launch.nodes, launch.verifiers), and this is a single one; add --slurm"
        )
    if there and there < needed:
        raise UserError(
            f"the plan needs {needed} GPUs, and this machine has {there}; lower launch.processes or launch.servers"
        )


def run(plan: Plan, say: Callable[[str], None]) -> int:
    """Runs a plan; the trainer's exit code, or STALLED if it stalled. Raises PartEnded if another part ends first."""
    there = gpus_here() if plan.recipe.launch.device == "gpu" else 0
    if not there and plan.recipe.launch.device == "gpu":
        say("no GPU found: every part runs on the CPU")
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
    """Starts a part in its own session, so that only this process gets Ctrl-C. The part ends when this process dies.
    The trainer writes to this terminal, other parts to their logs.
    """
    environment, words = {**os.environ, **plan.environment}, [*part.words]
    if devices is not None:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
    if part.trains:
        ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(part.processes)]
        if part.processes == 1:
            ranks, environment["RANK"] = [], "0"
        begun = (plan.run / RECIPE).is_file()
        words = [*ranks, *words, *(["--resume", str(plan.run)] if begun else [str(plan.folder / RECIPE)])]
    with ExitStack() as stack:
        log = None if part.trains else stack.enter_context((plan.folder / f"{part.name}.log").open("ab"))
        return subprocess.Popen(
            [*plan.python(sys.executable), *words], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, preexec_fn=partial(die_with_parent, os.getpid(), signal.SIGTERM),
        )  # fmt: skip


def _stop(running: "Mapping[str, subprocess.Popen[bytes]]") -> None:
    """Ends every part and its descendants; a second Ctrl-C stops the wait."""
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
            os.killpg(process.pid, signal.SIGKILL)  # what is left of its session
        process.wait()
