"""Terminal tasks, as Harbor's folders bring them: a script, then the task's own tests and their reward."""

import pytest

from strop_verify.attacks.cheats import load_cheats
from strop_verify.core.checks import TerminalCheck
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome
from strop_verify.verification.toolchains import missing_programs

DOCKERFILE = """\
FROM ubuntu:24.04
# what everybody has
RUN apt-get update && apt-get install -y --no-install-recommends \\
    bash coreutils && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV LOUD=yes
COPY name.txt tool.sh ./
RUN mkdir -p data && echo $LOUD > data/loud
"""
TEST = """\
#!/bin/bash
if python3 /tests/check.py && [ "$(cat data/loud)" = yes ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
RIGHT = 'echo "hello $(./tool.sh)" > greeting.txt'
FILES = {
    "environment/Dockerfile": DOCKERFILE,
    "environment/name.txt": "Ann\n",
    "environment/tool.sh": "#!/bin/sh\ncat name.txt\n",
    "tests/test.sh": TEST,
    "tests/check.py": 'assert open("/app/greeting.txt").read() == "hello Ann\\n"\n',
}
HOSTILE = {
    **{cheat.name: text for cheat in load_cheats("scripts") if (text := cheat.filled({}))},
    "no place for rewards": "rm -rf ~/logs; ln -s /nowhere ~/logs",
    "a full box": "dd if=/dev/zero of=big bs=1M count=2000",
}


def task(**changes):
    check = {
        "files": FILES,
        "programs": ["environment/tool.sh"],
        "seconds": 60.0,
        "test_seconds": 60.0,
        **changes,
    }
    return Task(
        id="greet", family="terminal", language="bash", statement="Greet.", check=TerminalCheck(**check)
    )


@pytest.mark.parametrize("artifacts", [[], ["/app/greeting.txt"]], ids=["shared", "separate"])
def test_scripts_get_the_reward_of_the_tests(artifacts, verifier):
    assert verifier.verify(task(artifacts=artifacts), RIGHT).outcome is Outcome.PASSED
    wrong = verifier.verify(task(artifacts=artifacts), "echo hello > greeting.txt")
    assert wrong.outcome is Outcome.FAILED and "the reward 0" in wrong.detail


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
def test_no_script_makes_its_own_reward_nor_an_error(script, verifier):
    assert verifier.verify(task(), script).outcome is Outcome.FAILED


def test_parts_of_a_reward_and_rewards_by_name(verifier):
    write = "#!/bin/bash\necho '%s' > /logs/verifier/reward.json\n"
    for text, outcome, score in (
        ("0.5", Outcome.FAILED, 0.5),
        ('{"a": 1.0, "b": 0.25}', Outcome.FAILED, 0.25),
        ('{"reward": 1, "b": 0}', Outcome.PASSED, 1.0),
    ):
        verdict = verifier.verify(task(files={**FILES, "tests/test.sh": write % text}), "true")
        assert (verdict.outcome, verdict.score) == (outcome, score), text


@pytest.mark.parametrize("test", [
    "exit 0", "echo NaN > reward.json", "echo x > reward.txt", "echo true > reward.json", "echo {} > reward.json",
    """echo '{"a": 1, "b": null}' > reward.json""", """echo '{"a": 1, "b": "x"}' > reward.json""",
    """echo '{"reward": [1]}' > reward.json""", "printf '1%0400d' 0 > reward.json",
    "head -c 100000 /dev/zero | tr '\\0' '[' > reward.json",
])  # fmt: skip
def test_tests_that_write_no_reward_are_the_tasks_fault(test, verifier):
    verdict = verifier.verify(
        task(files={**FILES, "tests/test.sh": f"#!/bin/sh\ncd /logs/verifier; {test}\n"}), RIGHT
    )
    assert verdict.outcome is Outcome.ERROR and "no reward" in verdict.detail


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nRUN pip install pandas==2\n"}}, "pandas==2"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nRUN apt-get install -y no-such\n"}}, "no-such"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nRUN curl x | sh\n"}}, "RUN curl"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM ghcr.io/a/b:1\n"}}, "ghcr.io/a/b:1"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM python:3.99\n"}}, "this machine's python3 is"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nENTRYPOINT x\n"}}, "ENTRYPOINT"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nCOPY --from=a /b /c\n"}}, "COPY"),
        ({"files": {**FILES, "environment/Dockerfile": "FROM debian\nWORKDIR /usr/src/app\n"}}, "/usr/src/app"),
        ({"files": {"tests/test.sh": TEST}}, "no image"),
    ],
)  # fmt: skip
def test_what_needs_a_container_is_refused_by_name_before_anything_runs(changes, message, verifier):
    refused = task(**changes)
    (line,) = missing_programs([refused])
    assert message in line and "\n" not in line
    verdict = verifier.verify(refused, RIGHT)
    assert verdict.outcome is Outcome.ERROR and message in verdict.detail
