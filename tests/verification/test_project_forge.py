"""Edits of a project that do not mend it and try to have its tests reported as passed; and honest ones.

The edits are those of `strop attack`; here without the bench around them, in one process for each project.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from tests.scale import some

from strop_verify.attacks.canary import Canaries
from strop_verify.attacks.projects import PROJECTS, projects
from strop_verify.attacks.suite import as_given, load_suite
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.sandbox.limits import Limits
from strop_verify.verification.edit import EditToolchain
from strop_verify.verification.settings import Settings
from strop_verify.verification.toolchains import build

ATTACKS = {attack.name: attack for attack in load_suite() if attack.task in PROJECTS}
PYTHON = [name for name, attack in ATTACKS.items() if attack.language == "python"]
RUST = [name for name, attack in ATTACKS.items() if attack.language == "rust"]
SLOW = {"project-endless-at-import": pytest.mark.soak(32)}
_LIMITS = Limits(cpu_seconds=2, wall_seconds=20)


@pytest.fixture(scope="module")
def judge() -> Iterator[Callable[..., Verdict]]:
    with ExitStack() as stack:
        canaries = stack.enter_context(Canaries())
        tasks = projects(canaries.folder)
        made = EditToolchain(lambda name: build(name, Settings(limits=_LIMITS)), "project")
        stack.callback(made.close)

        def act(task: str, text: str, *, honest: bool = False) -> Verdict:
            answer = as_given(tasks[task], text, canaries.facts, honest=honest)
            (verdict,) = made.judge([(tasks[task], answer)])
            return verdict

        yield act


@pytest.mark.parametrize("name", [pytest.param(n, marks=SLOW.get(n, ())) for n in some(PYTHON, 20)])
def test_forged_results_do_not_pass(judge: Callable[..., Verdict], name: str) -> None:
    verdict = judge(ATTACKS[name].task, ATTACKS[name].hostile)
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict


@pytest.mark.parametrize("honest", sorted({ATTACKS[name].honest for name in PYTHON}))
def test_honest_edits_pass_and_say_how_far_that_goes(judge: Callable[..., Verdict], honest: str) -> None:
    verdict = judge("project", honest, honest=True)
    assert verdict.passed and verdict.trust == "same-process", verdict
    assert '"trust"' in verdict.model_dump_json()


@pytest.mark.parametrize("task", [name for name in PROJECTS if name != "cargo"])
def test_each_task_is_mended_by_the_right_text_alone(judge: Callable[..., Verdict], task: str) -> None:
    assert judge(task, "@RIGHT@\n# said twice\n", honest=True).passed
    failed = judge(task, "@WRONG@\n# said once\n")
    assert failed.outcome is Outcome.FAILED and '"trust"' not in failed.model_dump_json()


@pytest.mark.rust
@pytest.mark.parametrize("name", some(RUST, 5))
def test_forged_results_of_a_crate_do_not_pass(judge: Callable[..., Verdict], name: str) -> None:
    verdict = judge("cargo", ATTACKS[name].hostile)
    assert not verdict.passed and verdict.outcome is not Outcome.ERROR, verdict


@pytest.mark.rust
@pytest.mark.parametrize(
    "text",
    ["@CRATE_RIGHT@", "// said twice\n@CRATE_RIGHT@", sorted({ATTACKS[name].honest for name in RUST})[0]],
)
def test_honest_edits_of_a_crate_pass(judge: Callable[..., Verdict], text: str) -> None:
    verdict = judge("cargo", text, honest=True)
    assert verdict.passed and verdict.trust == "same-process", verdict


@pytest.mark.rust
def test_a_crate_that_is_left_wrong_fails(judge: Callable[..., Verdict]) -> None:
    assert judge("cargo", "// said once\n@CRATE_WRONG@").outcome is Outcome.FAILED
