"""`TerminalToolchain`: runs a script in a jailed machine and judges it by the task's own tests (Harbor's contract).

Threat model: before the tests run, the script's processes have ended, /tests and /logs/verifier have been emptied, and
the programs and libraries of the machine or its image are write-protected (`Machine.protect`). The tests still see the
script's other files and may run them: a task whose tests trust those can be fooled, so trust is "same-process". If the
tests write no reward, they run once more on a machine where no script ran. If they write one there, the script is at
fault (*failed*); otherwise the task or this machine is (*error*).
"""

import base64
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from strop_verify.core.checks import CheckBase, TerminalCheck, WorkspaceCheck
from strop_verify.core.errors import NotStarted, SandboxError, UserError, VerificationError, WorkerDied
from strop_verify.core.ids import content_hash
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Stage, TestResult, Verdict
from strop_verify.sandbox.dockerfile import ImagePlan, base_image, image_plan
from strop_verify.sandbox.furnish import furnish
from strop_verify.sandbox.image import KIND, open_image, stored
from strop_verify.sandbox.machine import Machine
from strop_verify.verification.settings import Settings

_DOCKERFILE, _VERIFIER = "environment/Dockerfile", "/logs/verifier"
_CLEAR = (
    "chmod -R u+rwX /tests/ /logs/ 2>/dev/null; find /tests/ -mindepth 1 -delete && "
    f"rm -rf {_VERIFIER} && mkdir {_VERIFIER}"
)
_SHOWN = 4000
"""Characters kept from the end of the tests' output."""


class TerminalToolchain:
    """Implements `strop_verify.core.protocols.Toolchain` for checks of kind terminal."""

    batch = 1

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._machine: Machine | None = None
        self._rewarding: dict[str, bool] = {}
        """Whether a check's tests write a reward when no script has run, by hash of the check."""

    def judge(self, jobs: Sequence[tuple[Task, str]]) -> list[Verdict]:
        """One verdict per job. Raises VerificationError for a task that needs more than a jail, or whose tests write
        no reward; WorkerDied when the jail broke.
        """
        return [self._judge(task, answer) for task, answer in jobs]

    def close(self) -> None:
        """Ends the running machine. Safe to call twice and from any thread."""
        if self._machine is not None:
            self._machine.close()

    def _judge(self, task: Task, answer: str) -> Verdict:
        began, check = time.monotonic(), task.check.only(TerminalCheck)
        plan = plan_of(check, self._settings.root)
        try:
            reward, printed, why = self._played(check, plan, answer)
            if reward is None and not self._writes_reward(check, plan):
                raise VerificationError(f"task {task.id!r}: {why or printed.strip()[-200:]}")
        except UserError as error:
            raise VerificationError(f"task {task.id!r}: {error}") from None
        except SandboxError as error:
            raise WorkerDied(str(error)) from error
        passed = reward is not None and reward >= 1
        outcome = Outcome.PASSED if passed else Outcome.FAILED
        detail = "" if passed else why or f"the tests gave the reward {reward:g}"
        seconds = time.monotonic() - began
        return Verdict(
            outcome=outcome,
            stages=[Stage(name="test", passed=passed, seconds=seconds, output=printed[-_SHOWN:])],
            tests=[TestResult(id="tests/test.sh", outcome=outcome, message=detail, seconds=seconds)],
            output=printed[-_SHOWN:],
            detail=detail,
            seconds=seconds,
            trust=check.trust if passed else None,
            score=min(max(reward, 0.0), 1.0) if reward is not None else 0.0,
        )

    def _writes_reward(self, check: TerminalCheck, plan: ImagePlan) -> bool:
        key = content_hash(check.model_dump())
        if key not in self._rewarding:
            self._rewarding[key] = self._played(check, plan, None)[0] is not None
        return self._rewarding[key]

    def _played(
        self, check: TerminalCheck, plan: ImagePlan, answer: str | None
    ) -> tuple[float | None, str, str]:
        """Returns the reward or None, what the tests printed, and why there is no reward."""
        with self._made(check, plan) as machine:
            try:
                if answer is not None:
                    machine.put({"/solution/solve.sh": answer.encode(errors="surrogateescape")})
                    machine.run(["bash", "/solution/solve.sh"], seconds=check.seconds)
                if not check.artifacts:
                    return self._tested(check, machine)
                files, programs = _carried(machine, check.artifacts)
                machine.close()
                with self._made(check, plan, grades=True) as fresh:
                    fresh.put(files, executable=programs)
                    return self._tested(check, fresh)
            except (NotStarted, ValueError) as error:  # too large a file, or a path that cannot be written
                return None, "", str(error)

    def _made(self, check: TerminalCheck, plan: ImagePlan, *, grades: bool = False) -> Machine:
        machine = self._machine = Machine(
            workdir=check.workdir or plan.workdir or "/app",
            environment={**plan.environment, **check.environment},
            jail=self._settings.jail,
            allow_unsafe=self._settings.allow_unsafe,
            grades=grades,
            image=open_image(plan.source) if plan.source else None,
        )
        try:
            furnish(machine, plan, contents(check, "environment"), _programs(check, "environment"))
            machine.protect()
        except BaseException:
            machine.close()
            raise
        return machine

    def _tested(self, check: TerminalCheck, machine: Machine) -> tuple[float | None, str, str]:
        if machine.run(["sh", "-c", _CLEAR], cwd="/").status:
            return 0.0, "", "the script left folders that cannot be emptied"
        files = {f"/tests/{name}": data for name, data in contents(check, "tests").items()}
        programs = [f"/tests/{name}" for name in _programs(check, "tests")]
        machine.put(files, executable=[*programs, "/tests/test.sh"])
        variables = {"PYTHONNOUSERSITE": "1", **check.test_environment}  # HOME holds what the script left
        done = machine.run(["/tests/test.sh"], environment=variables, seconds=check.test_seconds)
        printed = (done.stdout + done.stderr).decode(errors="replace")
        for name in ("reward.json", "reward.txt"):
            try:
                return _reward(machine.read(f"{_VERIFIER}/{name}", limit=1 << 20), name), printed, ""
            except (FileNotFoundError, ValueError):
                continue
        late = f"took more than {check.test_seconds:g} seconds" if done.expired else "wrote no reward"
        return None, printed, f"the tests {late}"


def plan_of(check: TerminalCheck, root: str = "") -> ImagePlan:
    """The plan for building the check's machine. `root`: image to use unless the check gives its image's location.

    Raises VerificationError if a jail on this computer cannot provide it.
    """
    text = check.files.get(_DOCKERFILE, "")
    try:
        plan = image_plan(text, check.image if check.image.startswith(KIND) else root or check.image)
        if not plan.source:
            Machine(workdir=check.workdir or plan.workdir or "/app")
    except (UserError, ValueError) as error:
        raise VerificationError(str(error)) from None
    return plan


def with_image(check: CheckBase, store: Path) -> CheckBase:
    """The check with its image, named or from its Dockerfile's FROM line, replaced by a location in the store. The
    Dockerfile beside a named image, which was built from it, is dropped.

    Raises UserError for an image that is not in the store.
    """
    if not isinstance(check, TerminalCheck | WorkspaceCheck) or check.image.startswith(KIND):
        return check
    text = check.image if "\n" in check.image.strip() else ""
    if isinstance(check, TerminalCheck) and not check.image:
        text = check.files.get(_DOCKERFILE, "")
    if not (name := base_image(text) if text else check.image):
        return check
    changes: dict[str, object] = {"image": stored(store, name)}
    if isinstance(check, TerminalCheck) and not text:
        changes["files"] = {path: held for path, held in check.files.items() if path != _DOCKERFILE}
    return check.model_copy(update=changes)


def contents(check: TerminalCheck, folder: str) -> dict[str, bytes]:
    """The files in a folder of the task, by path relative to it."""
    every = {name: text.encode() for name, text in check.files.items()}
    every |= {name: base64.b64decode(data) for name, data in check.binary.items()}
    top = f"{folder}/"
    return {name[len(top) :]: data for name, data in every.items() if name.startswith(top)}


def _programs(check: TerminalCheck, folder: str) -> list[str]:
    return [name[len(folder) + 1 :] for name in check.programs if name.startswith(f"{folder}/")]


def _carried(machine: Machine, artifacts: Sequence[str]) -> tuple[dict[str, bytes], list[str]]:
    """The artifacts that exist: contents by path, and which are executable."""
    found: dict[str, bytes] = {}
    programs = []
    for path in artifacts:
        names: Mapping[str, bool] = machine.files(path) or {"": False}
        for name, program in names.items():
            place = str(PurePosixPath(path, name))
            try:
                found[place] = machine.read(place)
            except (FileNotFoundError, ValueError):
                continue
            programs += [place] if program else []
    return found, programs


def _reward(data: bytes, name: str) -> float:
    """Parses the reward. Raises ValueError for anything but a finite number."""
    with suppress(OverflowError, RecursionError):  # an integer of 400 digits, lists 100,000 deep
        value = json.loads(data) if name.endswith(".json") else float(data)
        parts = value if isinstance(value, dict) else {"reward": value}
        values = [parts["reward"]] if "reward" in parts else list(parts.values())
        if values and all(type(one) in (int, float) and math.isfinite(one) for one in values):
            return float(min(values))
    raise ValueError(f"{name} holds no reward")
