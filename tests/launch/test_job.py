"""The script of a job on a real SLURM, with a small program in place of Python that does what a test says."""

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from tests.scale import some

from strop.config.launch import SiteConfig
from strop.launch import plan
from strop.launch.slurm import script

from .slurm import Slurm

pytestmark = pytest.mark.needs("slurm")

PROGRAM = """#!/bin/bash
echo "$SLURM_JOB_NAME on=$SLURMD_NODENAME rank=${RANK:-} devices=${CUDA_VISIBLE_DEVICES:-}" >> "$1/said"
run=$1; shift
case "$*" in
    *--check*) eval "$CHECK" ;;
    *serve-sampler*) eval "$SERVER" ;;
    *ray_node*) sleep 600 ;;
    *) eval "$TRAINER" ;;
esac
"""


class Job:
    """A plan's job: what its parts do is shell."""

    def __init__(self, slurm: Slurm, folder: Path, *words: str, **site: object) -> None:
        self._slurm, self.run = slurm, folder / "run"
        more = ["launch.cpus=1", "launch.memory_mb=100", f"run.dir={self.run}"]
        self.plan = plan.plan_of(["demo"], [*more, *words], SiteConfig.model_validate(site))
        plan.prepare(self.plan, overwrite=False, say=print)
        program = folder / "program"
        program.write_text(PROGRAM)
        program.chmod(0o700)
        text = script(self.plan).replace("python=(", f"python=({program} {self.run} ", 1)
        self.script = self.run / "launch" / "job.sbatch"
        self.script.write_text(text)

    def submit(
        self, check: str = "exit 0", server: str = "sleep 600", trainer: str = "exit 1"
    ) -> dict[str, str]:
        """What SLURM knows of the job after its end."""
        number = subprocess.run(
            ["sbatch", "--parsable", str(self.script)], text=True, capture_output=True, check=True,
            env={**self._slurm.environment, "CHECK": check, "SERVER": server, "TRAINER": trainer},
        ).stdout.strip()  # fmt: skip
        return self._slurm.ended(number)

    def said(self, part: str) -> list[str]:
        """What each process of a part was."""
        lines = (self.run / "said").read_text().splitlines()
        return [line for line in lines if line.startswith(f"{part} ")]

    @property
    def log(self) -> str:
        """The script's words."""
        return (self.run / "launch" / "job.log").read_text()


DONE = 'touch "$run/summary.json"'


@pytest.mark.parametrize(
    ("size", "gpus", "ranks", "devices"),
    some(
        [("small", 1, 1, {"trainer": 1}), ("medium", 2, 1, {"sampler-1": 1, "trainer": 1}),
         ("large", 8, 4, {"sampler-1": 4, "trainer": 4})], 1,
    ),
)  # fmt: skip
def test_a_size_gets_the_gpus_that_were_published(
    size: str, gpus: int, ranks: int, devices: dict[str, int], slurm: Slurm, tmp_path: Path
) -> None:
    job = Job(slurm, tmp_path, size=size)
    ended = job.submit(trainer=DONE)
    assert ended["JobState"] == "COMPLETED", job.log
    assert (ended["NumNodes"], ended["TresPerNode"]) == ("1", f"gres:gpu:{gpus}")
    assert sorted(line.split()[2] for line in job.said("trainer")) == [f"rank={n}" for n in range(ranks)]
    if slurm.gives_devices:
        seen: dict[str, set[str]] = defaultdict(set)
        for line in (job.run / "said").read_text().splitlines():
            name, _, _, given = line.split()
            seen[name] |= {*given.removeprefix("devices=").split(",")}
        assert len(seen.pop("check")) == gpus
        assert {name: len(given) for name, given in seen.items()} == devices
        assert len(set.union(*seen.values())) == gpus


@pytest.mark.soak(20)
def test_a_part_that_dies_ends_the_job_which_is_given_up_after_two_tries(
    slurm: Slurm, tmp_path: Path
) -> None:
    job = Job(slurm, tmp_path, "launch.nodes=2", "launch.device=cpu")
    # Rank 1 dies once rank 0 is there, in each of the two tries.
    there = '[ "$(grep -c "rank=0 " "$run/said")" -gt "${SLURM_RESTART_COUNT:-0}" ]'
    ended = job.submit(trainer=f'[ "$RANK" = 0 ] && sleep 600; until {there}; do sleep 0.1; done; exit 7')
    assert ended["JobState"] == "FAILED" and ended["Restarts"] == "1", job.log
    assert job.log.count("trainer ended with code") == 2 and "giving up" in job.log
    assert len(job.said("trainer")) == 4
    ended = job.submit(trainer=DONE)  # by hand, when the cause is mended
    assert ended["JobState"] == "COMPLETED" and "the run is finished" in job.log, job.log


@pytest.mark.soak(20)
def test_progress_is_tried_again(slurm: Slurm, tmp_path: Path) -> None:
    job = Job(slurm, tmp_path, "launch.device=cpu")
    save = 'step="$run/checkpoints/checkpoint-${SLURM_RESTART_COUNT:-0}"; mkdir -p "$step"'
    ended = job.submit(
        trainer=f'{save}; touch "$step/STROP_COMPLETE"; [ "$SLURM_RESTART_COUNT" = 2 ] && {DONE}; exit 1'
    )
    assert ended["JobState"] == "COMPLETED" and ended["Restarts"] == "2", job.log


@pytest.mark.parametrize("part", some(["check", "trainer"], 1))
def test_a_fault_is_not_tried_again(part: str, slurm: Slurm, tmp_path: Path) -> None:
    job = Job(slurm, tmp_path, "launch.nodes=2", "launch.device=cpu")
    ended = job.submit(**{part: '[ "$SLURM_PROCID" = 0 ] && sleep 1; exit 2'})
    assert ended["JobState"] == "FAILED" and ended["ExitCode"] == "2:0", job.log
    assert ended["Restarts"] == "0" and (part == "trainer") == bool(job.said("trainer"))


def test_a_run_that_was_stopped_by_hand_stays_so(slurm: Slurm, tmp_path: Path) -> None:
    job = Job(slurm, tmp_path, "launch.device=cpu")
    ended = job.submit(trainer="exit 0")
    assert ended["JobState"] == "COMPLETED" and ended["Restarts"] == "0" and "by hand" in job.log, job.log


def test_servers_find_their_key_and_nothing_says_it(slurm: Slurm, tmp_path: Path) -> None:
    job = Job(slurm, tmp_path, "launch.device=cpu", size="medium")
    key = (job.run / "launch" / plan.KEY).read_text().strip()
    see = f'[ "$(cat "$STROP_SAMPLER_KEY_FILE")" = {key} ] && touch "$run/$SLURM_JOB_NAME.sees"'
    read = 'cat /proc/*/cmdline > "$run/words" 2> /dev/null; ps axww >> "$run/words"'
    ended = job.submit(server=f"{see.replace(key, '$(cat $run/launch/sampler.key)')}; sleep 600",
                       trainer=f"sleep 2; {read}; {DONE}")  # fmt: skip
    assert ended["JobState"] == "COMPLETED" and (job.run / "sampler-1.sees").is_file(), job.log
    for path in job.run.rglob("*"):
        if path.is_file() and path.name != plan.KEY:
            assert key.encode() not in path.read_bytes(), path
    assert os.stat(job.run / "launch" / plan.KEY).st_mode & 0o777 == 0o600


def test_nodes_that_verify_stand_apart(slurm: Slurm, tmp_path: Path) -> None:
    """Without a GPU, in one job with the others."""
    job = Job(slurm, tmp_path, "launch.verifiers=1", "launch.verifier_cpus=2")
    ended = job.submit(trainer=f"sleep 3; {DONE}")
    assert ended["JobState"] == "COMPLETED" and "the run is finished" in job.log
    assert (ended["TimeLimit"], ended["Requeue"]) == ("04:00:00", "1")
    places = {(line.split()[0], line.split()[1]) for line in (job.run / "said").read_text().splitlines()}
    (first,) = (place for name, place in places if name == "trainer")
    (other,) = (place for name, place in places if name == "verifier")
    assert places == {
        ("check", first),
        ("check", other),
        ("verifiers", first),
        ("trainer", first),
        ("verifier", other),
    }
    assert first != other
