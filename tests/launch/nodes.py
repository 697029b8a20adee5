"""The nodes of a job as processes of this machine, which know of each other what SLURM tells them."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.warm import _CONTEXT

from strop.config.load import load_recipe
from strop.launch.check import check

NAMES = ("n1", "n2")


def faults_of_nodes(
    folder: Path, words: Sequence[str], tricks: Mapping[int, str], wait: float = 100
) -> dict[int, list[str]]:
    """What `check` finds on each node by number, all looking at the same time.

    tricks  of each node: nothing, "no jail", or a folder with other versions of packages
    """
    told = {number: folder / f"faults-{number}.json" for number in tricks}
    processes = [
        _CONTEXT.Process(target=_node, args=(number, [*words], wait, trick, str(told[number])))
        for number, trick in tricks.items()
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(280)
        assert process.exitcode == 0
    return {number: json.loads(path.read_text()) for number, path in told.items()}


def _node(number: int, words: list[str], wait: float, trick: str, out: str) -> None:
    os.environ |= {
        "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_JOB_NUM_NODES": "2", "SLURM_NODEID": str(number),
        "SLURMD_NODENAME": NAMES[number],
    }  # fmt: skip
    if trick == "no jail":
        _refuse_layers()
    elif trick:
        sys.path.insert(0, trick)
    Path(out).write_text(json.dumps(check(load_recipe([], words), wait=wait)))


def _refuse_layers() -> None:
    """From here on the kernel refuses Landlock and seccomp, as a host that has neither does."""
    from strop_verify.sandbox import kernel, seccomp

    kernel.no_new_privs()
    prctl, filtering = (157, 317) if os.uname().machine == "x86_64" else (167, 277)
    no_filter = seccomp._block(prctl, seccomp._none_of(0, (kernel.PR_SET_SECCOMP,)))
    kernel.install_filter(seccomp._program(no_filter, [filtering, 444, 445, 446]))  # seccomp, landlock_*
