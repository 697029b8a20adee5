"""C, JavaScript, user-defined languages and tasks with steps: right, wrong, broken, looping and hostile answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scale import some

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.suite import Attack, load_suite, trial
from strop_verify.attacks.tasks import build
from strop_verify.core.checks import CommandCheck, CommandStep, StdioCase, StdioCheck
from strop_verify.core.errors import UserError, VerificationError
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox import Limits, jail_names
from strop_verify.verification.command.languages import language
from strop_verify.verification.command.toolchain import CommandToolchain
from strop_verify.verification.settings import Settings

SUM = StdioCheck(cases=[StdioCase(stdin="1 2\n", stdout="3\n"), StdioCase(stdin="20 22\n", stdout="42\n")])
RIGHT = {
    "c": '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); return 0; }',
    "javascript": "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a + b);",
}
COMPILER = {"c": pytest.mark.needs("gcc"), "javascript": pytest.mark.needs("node")}
C = pytest.param("c", marks=COMPILER["c"])
JS = pytest.param("javascript", marks=COMPILER["javascript"])


def opened(wall_seconds: float) -> Iterator[CommandToolchain]:
    limits = Limits(cpu_seconds=1, wall_seconds=wall_seconds, memory_bytes=256 * 2**20)
    toolchain = CommandToolchain(Settings(limits=limits))
    yield toolchain
    toolchain.close()


@pytest.fixture(scope="module")
def command() -> Iterator[CommandToolchain]:
    yield from opened(20)


@pytest.fixture(scope="module")
def hasty() -> Iterator[CommandToolchain]:
    """For what sleeps."""
    yield from opened(1)


def judge(command: CommandToolchain, check: Any, answer: str, name: str = "c") -> Verdict:
    (verdict,) = command.judge([(Task(statement="s", language=name, check=check), answer)])
    return verdict


@pytest.mark.parametrize("name", [C, JS])
def test_right_wrong_and_broken(command: CommandToolchain, name: str) -> None:
    right = judge(command, SUM, RIGHT[name], name)
    assert right.passed, right
    assert [s.name for s in right.stages] == (["build", "lint", "test"] if name == "c" else ["build", "test"])
    assert right.cpu_seconds > 0 and right.peak_bytes > 0
    wrong = judge(command, SUM, RIGHT[name].replace("a + b", "3"), name)
    assert [t.outcome for t in wrong.tests] == [Outcome.PASSED, Outcome.FAILED] and "42" not in wrong.detail
    broken = judge(command, SUM, RIGHT[name][:-3] + "((", name)
    assert broken.outcome is Outcome.FAILED and len(broken.tests) == 2
    build = broken.stage("build")
    assert "does not build: " in broken.detail and "rror: " in broken.detail
    assert build is not None and not build.passed and "rror" in build.output and broken.stage("test") is None


@COMPILER["c"]
def test_warnings_fail_the_lint_stage_alone(command: CommandToolchain) -> None:
    verdict = judge(command, SUM, RIGHT["c"].replace("int a, b;", "int a, b, unused;"))
    lint = verdict.stage("lint")
    assert verdict.passed and lint is not None and not lint.passed and "unused" in lint.output


SPOILT = {
    "c": {
        "status 1": RIGHT["c"].replace("return 0", "return 1"),
        "crash": RIGHT["c"].replace("return 0", "fflush(stdout); *(volatile int *)0 = 1"),
        "fork": "#include <unistd.h>\n"
        + RIGHT["c"].replace("return 0", "for (int i = 0; i < 200; i++) if (fork() < 0) return 1; return 0"),
        "write": RIGHT["c"].replace("return 0", 'FILE *f = fopen("x", "w"); return f == 0'),
        "socket": "#include <sys/socket.h>\n"
        + RIGHT["c"].replace("return 0", "return socket(AF_INET, SOCK_STREAM, 0) < 0"),
        "no source": "\ud800",
    },
    "javascript": {
        "status 1": RIGHT["javascript"] + "process.exitCode = 1",
        "exception": RIGHT["javascript"] + "throw 1",
        "write": RIGHT["javascript"] + "require('fs').writeFileSync('x', 'y')",
    },
}
"""Right outputs with something that fails them."""


@pytest.mark.parametrize(
    ("name", "fault"),
    [pytest.param(name, fault, marks=COMPILER[name]) for name in SPOILT for fault in SPOILT[name]],
)
def test_right_output_is_not_enough(command: CommandToolchain, name: str, fault: str) -> None:
    verdict = judge(command, SUM, SPOILT[name][fault], name)
    assert verdict.outcome is Outcome.FAILED, verdict
    assert judge(command, SUM, RIGHT[name], name).passed


ENDINGS = dict.fromkeys(
    ("c/loop-ignoring-signals", "c/sleeps", "javascript/loop", "javascript/waits"), Outcome.TIMED_OUT
) | dict.fromkeys(
    (
        "c/constructor-exit", "c/include-secret", "c/incbin-secret", "c/other-program", "c/output-flood",
        "javascript/daemon", "javascript/exit-0", "javascript/kill-grader", "javascript/output-flood",
        "javascript/secret-file",
    ),
    Outcome.FAILED,
)  # fmt: skip
"""The outcome of attacks of the suite that end in one way only."""


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    with Canaries() as opened:
        yield opened


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(a, marks=COMPILER[a.language], id=a.id)
        for a in some([a for a in load_suite() if a.language in COMPILER], 24)
    ],
)
def test_hostile_programs_fail(
    command: CommandToolchain, hasty: CommandToolchain, canaries: Canaries, attack: Attack
) -> None:
    made = trial(attack, build(canaries.secret), canaries.facts)
    assert made.hostile is not None and made.honest is not None
    (verdict,) = (hasty if attack.name in ("sleeps", "waits") else command).judge([(made.task, made.hostile)])
    assert verdict.outcome not in (Outcome.PASSED, Outcome.ERROR), verdict
    assert verdict.outcome is ENDINGS.get(attack.id, verdict.outcome), verdict
    assert not canaries.leaked(verdict.model_dump_json()) and not canaries.touched()
    assert command.judge([(made.task, made.honest)])[0].passed


@pytest.mark.parametrize("name", [C, JS])
def test_tolerance_and_checker(command: CommandToolchain, name: str) -> None:
    close = StdioCheck(tolerance=1e-3, cases=[StdioCase(stdin="1 2\n", stdout="3.0001")])
    assert judge(command, close, RIGHT[name], name).passed
    checker = "def check(stdin, expected, output): return int(output) == sum(map(int, stdin.split()))"
    checked = SUM.model_copy(update={"checker": checker})
    assert judge(command, checked, RIGHT[name], name).passed
    assert judge(command, checked, RIGHT[name].replace("a + b", "a"), name).outcome is Outcome.FAILED


def shell(*steps: CommandStep, **more: Any) -> CommandCheck:
    return CommandCheck(path="answer.sh", files={"data/in.txt": "one\ntwo\n"}, steps=list(steps), **more)


COUNT = CommandStep(stage="test", argv=["sh", "answer.sh", "data/in.txt"], stdin="three\n", stdout="3")


def test_steps(command: CommandToolchain) -> None:
    check = shell(CommandStep(stage="build", argv=["sh", "-n", "answer.sh"]), COUNT)
    right = "n=0\nwhile read x; do n=$((n+1)); done\nwhile read x; do n=$((n+1)); done < $1\necho $n"
    verdict = judge(command, check, right, "shell")
    assert verdict.passed and [t.id for t in verdict.tests] == ["test 0"], verdict
    assert judge(command, check, "echo 4", "shell").outcome is Outcome.FAILED
    broken = judge(command, check, "if then", "shell")
    assert (
        broken.outcome is Outcome.FAILED
        and not broken.stages[0].passed
        and broken.tests[0].outcome is not Outcome.PASSED
    )
    assert judge(command, check, "while :; do :; done", "shell").outcome is Outcome.TIMED_OUT


def test_a_build_step_cannot_change_the_tasks_files(command: CommandToolchain) -> None:
    build = CommandStep(stage="build", argv=["sh", "answer.sh"])
    test = CommandStep(stage="test", argv=["cat", "data/in.txt"], stdout="one\ntwo")
    for attack in (
        "echo forged > data/in.txt",
        "rm -r data; ln -s / data",
        "rm data/in.txt; mkfifo data/in.txt; rm data/in.txt; mkdir data/in.txt",
    ):
        assert judge(command, shell(build, test), attack, "shell").passed, attack
    forged = test.model_copy(update={"stdout": "forged"})
    assert (
        judge(command, shell(build, forged), "echo forged > data/in.txt", "shell").outcome is Outcome.FAILED
    )


def test_step_that_needs_what_no_build_made(command: CommandToolchain) -> None:
    verdict = judge(command, shell(CommandStep(stage="test", argv=["./made"], stdout="")), "true", "shell")
    assert verdict.outcome is Outcome.FAILED
    expected = CommandStep(stage="test", argv=["sh", "answer.sh"], status=3)
    assert judge(command, shell(expected), "exit 3", "shell").passed
    assert judge(command, shell(expected), "exit 0", "shell").outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("check", "cause"),
    [
        (shell(CommandStep(stage="test", argv=["no-such-compiler"])), "no-such-compiler"),
        (shell(CommandStep(stage="build", argv=["true"])), "no step of stage test"),
        (CommandCheck(path="a", files={"a": ""}, steps=[COUNT]), "answer's path"),
        (CommandCheck(path="../a", steps=[COUNT]), "leaves"),
        (CommandCheck(path="a", files={"/etc/x": ""}, steps=[COUNT]), "leaves"),
        (SUM, "no toolchain for language 'cobol'"),
    ],
)
def test_fault_of_the_task_is_one_line(command: CommandToolchain, check: Any, cause: str) -> None:
    with pytest.raises(VerificationError) as caught:
        judge(command, check, "x", "cobol")
    assert cause in str(caught.value) and "\n" not in str(caught.value)


OWN = """
language: {name}
needs: [{need}]
file: main.awk
run: [awk, -f, main.awk]
environment: {{GREETING: hi}}
limits: {{output_bytes: 1000}}
"""


def test_a_language_of_ones_own(
    command: CommandToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROP_TOOLCHAINS", str(tmp_path))
    (tmp_path / "awk.yaml").write_text(OWN.format(name="awk", need="awk"))
    (tmp_path / "absent.yaml").write_text(OWN.format(name="absent", need="no-such-compiler"))
    assert judge(command, SUM, "{ print $1 + $2 }", "awk").passed
    assert judge(command, SUM, "{ print 3 }", "awk").outcome is Outcome.FAILED
    with pytest.raises(VerificationError, match="no-such-compiler"):
        judge(command, SUM, "x", "absent")
    with pytest.raises(VerificationError, match="cobol"):
        judge(command, SUM, "x", "cobol")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("language: x", "needs"),
        ("language: x\nneeds: []\nfile: x\nrun: [x]\nbiuld: [y]", "biuld"),
        ("language: x\nneeds: []\nfile: x\nrun: [x]\nlimits: {ram: 3}", "ram"),
        ("language: [", "expected"),
    ],
)
def test_bad_description_names_file_and_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, cause: str
) -> None:
    (tmp_path / "x.yaml").write_text(text)
    monkeypatch.setenv("STROP_TOOLCHAINS", str(tmp_path))
    with pytest.raises(UserError) as caught:
        language("x")
    assert "x.yaml" in str(caught.value) and cause in str(caught.value)


@pytest.mark.parametrize("name", [C, JS])
def test_every_jail(name: str) -> None:
    for jail in jail_names():
        command = CommandToolchain(Settings(limits=Limits(), jail=jail))
        try:
            verdict = judge(command, SUM, RIGHT[name], name)
            assert verdict.passed, (jail, verdict)
        finally:
            command.close()
