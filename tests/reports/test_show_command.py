"""`strop show`: a run's numbers and its rollouts in the terminal."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from strop.reports.run_folder import RunFolder
from strop_verify.core import files
from strop_verify.core.rollout import Rollout
from strop_verify.core.verdict import Outcome

from .hostile_runs import rewrite_lines
from .made_runs import make_run
from .terminals import COLOUR, strop_on_terminal, widest
from .test_runs_command import strop

EVIL = "\x1b]0;owned\x07\x1b[2J\u202eabc\x9b31m[bold]\ud800 \r x" + "\U0001f600" * 3


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "rust"
    return make_run(
        folder, steps=5, groups=3, size=4, language="rust", tasks=4, evaluations=("before", "warm", "after")
    )


def shown(*words: object) -> str:
    done = strop("show", *words)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert "\x1b" not in done.stdout
    return done.stdout


def ids(text: str) -> list[str]:
    return re.findall(r"^([te]\.\S+)  ", text, re.M)


def test_headline_numbers(run: Path) -> None:
    text = shown(run)
    assert "rust  finished after step 5 of 5" in text and "reward " in text and "since warm" in text
    assert re.search(r"\| pass@1 .*\[", text) and "time 5:00" in text and f"strop show {run} --step 5" in text


def test_one_rollout_is_shown_whole(run: Path) -> None:
    rollouts = [rollout for group in RunFolder.read(run).iter_groups(3) for rollout in group.rollouts]
    rollout = next(r for r in rollouts if r.verdict and r.verdict.stage("build")
                   and r.verdict.outcome is Outcome.FAILED and r.verdict.stages[0].output)  # fmt: skip
    group = next(i for i, g in enumerate(RunFolder.read(run).iter_groups(3)) if rollout in g.rollouts)
    text = shown(run, "--id", f"t.3.{group}.{rollout.index}")
    assert ids(text) == [f"t.3.{group}.{rollout.index}"]
    for line in rollout.answer.rstrip().split("\n"):
        assert f"  {line}\n" in text
    assert rollout.verdict is not None
    for line in rollout.verdict.stages[0].output.rstrip().split("\n"):
        assert f"    {line}" in text
    assert "verdict  failed: " in text and re.search(r"build +failed", text)
    assert f"reward {rollout.reward:.3f}, advantage {rollout.advantage:+.3f}" in text


def test_every_turn_is_shown_in_short(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=4, tokens=80, evaluations=())
    rollout = next(RunFolder.read(folder).iter_groups(1)).rollouts[0]
    text = shown(folder, "--step", 1, "--limit", 1)
    parts = re.split(r"^turn (\d) of 4 \(\w+\)$", text, flags=re.M)
    assert parts[1::2] == ["1", "2", "3", "4"]
    for before, said, turn in zip(parts[::2], parts[2::2], rollout.turns, strict=False):
        first, *more = turn.completion.text.strip("\n").split("\n")
        assert f"    {first}\n" in said.split("given")[0]
        assert (f"... {len(more) - 4} more lines" in said.split("given")[0]) is (len(more) > 4)
        assert ("It does not pass: 1 of 3 tests failed" in before) is (turn is not rollout.turns[0])
    assert "more turns" not in text
    whole = shown(folder, "--id", "t.1.0.0")
    for turn in rollout.turns:
        assert all(f"    {line}" in whole for line in turn.completion.text.rstrip().split("\n"))


def test_of_many_turns_the_first_and_the_last_are_shown(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=30, evaluations=())
    text = shown(folder, "--step", 1, "--limit", 1)
    assert re.findall(r"^turn (\d+) of 30", text, re.M) == ["1", *(str(n) for n in range(24, 31))]
    assert "\n... 22 more turns; --full shows all\n" in text
    assert len(re.findall(r"^turn \d+ of 30", shown(folder, "--id", "t.1.0.0"), re.M)) == 30


def with_events(line: dict[str, Any]) -> dict[str, Any]:
    """The rollout's line with events, long, hostile and damaged ones, after its first turn."""
    asked = {"name": "RunTests", "asked": "RunTests(paths=['a.py'])", "result": "failed: 2 of 3\n" + EVIL}
    many = [{"name": f"Look{n}", "asked": "x" * 9000, "result": "", "seconds": None} for n in range(60)]
    line["turns"][0]["events"] = [{**asked, "seconds": 1.5, "bytes": 12345}, "no event", *many]
    line["turns"][1]["events"] = {"name": "no list"}
    return line


def test_events_of_a_turn(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=3, evaluations=())
    rewrite_lines(folder / "rollouts" / "step-000001.jsonl.zst", with_events)
    text = shown(folder, "--step", 1, "--limit", 1)
    after_first = text.partition("turn 1 of 3")[2].partition("turn 2 of 3")[0]
    assert (
        "event RunTests  1.50 s  12,345 bytes\n    RunTests(paths=['a.py']) -> failed: 2 of 3 \\x1b]0;owned"
        in (after_first)
    )
    assert after_first.count("\nevent ") == 5 and "... 56 more events" in after_first
    assert text.count("\nevent ") == 5 and "x" * 101 not in text
    whole = shown(folder, "--id", "t.1.0.0")
    assert "asked\n    RunTests(paths=['a.py'])\nresult\n    failed: 2 of 3\n    \\x1b]0;owned" in whole
    assert whole.count("\nevent ") == 50 and "... 11 more events" in whole
    assert "x" * 4000 in whole.replace("\n", "") and "x" * 4001 not in whole
    assert "5000 more characters" in whole
    for raw in ("\x1b]0", "\x07", "\u202e", "\x9b"):
        assert raw not in strop_on_terminal(["show", str(folder), "--id", "t.1.0.0"], 60)


def test_a_turn_s_verdict_and_why_a_play_ended(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=2, evaluations=())
    verdict = {"outcome": EVIL, "detail": "", "tests": [{"id": "0", "outcome": "passed"}, "none"]}

    def masked(line: dict[str, Any]) -> dict[str, Any]:
        line["turns"][0] |= {"verdict": verdict, "reward": 0.25}
        return line | ({"stop_reason": "max turns", "left_out": "loss"} if line["index"] == 0 else {})

    rewrite_lines(folder / "rollouts" / "step-000001.jsonl.zst", masked)
    first, second = shown(folder, "--id", "t.1.0.0"), shown(folder, "--id", "t.1.0.1")
    judged = [line for line in first.splitlines() if line.startswith("this turn: ")]
    assert len(judged) == 1 and judged[0].endswith("(1 of 1 tests passed), reward 0.250")
    assert "\nstop     max turns, carries no loss" in first and "\nstop " not in second
    assert "\x1b" not in first


def test_numbers_of_plays_of_many_turns(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=2, evaluations=())
    assert "plays ended" not in shown(folder)
    (line,) = RunFolder.read(folder).iter_metrics()
    line |= {
        "turns": 2.5,
        "effects": 3,
        "seconds_effects": 0.25,
        "stops": {"answered": 0.25, "max turns": 0.75},
    }
    (folder / "metrics.jsonl").write_bytes(files.json_line(line) + b"\n")
    text = shown(folder)
    assert "turns 2.5, effects 3, seconds effects 0.25" in text
    assert "plays ended: max turns 75.0%, answered 25.0%" in text


def test_rollouts_of_a_step_of_a_group_and_of_an_evaluation(run: Path) -> None:
    assert ids(shown(run, "--step", 2, "--limit", 99)) == [f"t.2.{g}.{i}" for g in range(3) for i in range(4)]
    assert ids(shown(run, "--step", 2, "--group", 1)) == [f"t.2.1.{i}" for i in range(4)]
    text = shown(run, "--step", 2, "--limit", 3)
    assert len(ids(text)) == 3 and "3 of 12 rollouts; --limit 12 shows all" in text
    assert all(name.startswith("e.warm.") for name in ids(shown(run, "--evaluation", "warm")))


def test_failed_and_passed_share_out_the_newest_step(run: Path) -> None:
    outcomes = {
        f"t.5.{g}.{r.index}": r.verdict is not None and r.verdict.passed
        for g, group in enumerate(RunFolder.read(run).iter_groups(5))
        for r in group.rollouts
    }
    passed, failed = ids(shown(run, "--passed", "--limit", 99)), ids(shown(run, "--failed", "--limit", 99))
    assert passed == [name for name, good in outcomes.items() if good]
    assert failed == [name for name, good in outcomes.items() if not good]


def test_history_of_a_task_by_the_beginning_of_its_id(run: Path) -> None:
    folder = RunFolder.read(run)
    task = next(folder.iter_groups(1)).task_id
    text = shown(run, "--task", task[:5], "--limit", 2)
    assert text.startswith(f"task {task}  ")
    lines = [line for line in text.splitlines() if re.match(r"  step \d", line)]
    groups = [(s, g, group) for s in folder.rollout_steps() for g, group in enumerate(folder.iter_groups(s))
              if group.task_id == task]  # fmt: skip
    assert len(lines) == len(groups)
    for line, (step, number, group) in zip(lines, groups, strict=True):
        passed = sum(r.verdict is not None and r.verdict.passed for r in group.rollouts)
        assert line.startswith(f"  step {step}, group {number} ") and f"{passed} of 4 passed" in line
        assert ("no signal" in line) is (not group.has_signal)
    assert len(ids(text)) == 2 and f"the newest 2 of {4 * len(groups)} rollouts" in text
    assert ids(text) == [f"t.{groups[-1][0]}.{groups[-1][1]}.{i}" for i in (2, 3)]
    assert ids(shown(run, "--task", task, "--step", groups[0][0], "--limit", 1))[0].startswith(
        f"t.{groups[0][0]}."
    )


def test_groups_of_one_with_a_running_baseline_have_signal(tmp_path: Path) -> None:
    single = ["grpo.advantage.type=running-baseline", "grpo.refill=false"]
    folder = make_run(tmp_path / "run", steps=2, groups=1, size=1, tasks=1, evaluations=(), overrides=single)
    run = RunFolder.read(folder)
    for step, advantage in ((1, 0.0), (2, 0.5)):
        (group,) = run.iter_groups(step)
        (one,) = group.rollouts
        learnt = one.model_copy(update={"reward": 1.0, "advantage": advantage})
        run.write_rollouts(step, [group.model_copy(update={"rollouts": [learnt]})])
    text = shown(folder, "--task", group.task_id)
    first, second = (line for line in text.splitlines() if re.match(r"  step \d", line))
    assert "no signal" in first and "mean reward 1.000" in second and "no signal" not in second


def test_an_evaluated_task_and_its_greedy_answer(run: Path) -> None:
    task = next(RunFolder.read(run).iter_evaluation_rollouts("before")).task_id
    text = shown(run, "--task", task[:6], "--limit", 99)
    assert re.search(r"  before +\d of 2 passed.*greedy (passed|failed)", text) and "  after " in text
    greedy = shown(run, "--id", f"e.before.{task[:6]}.g")
    assert ids(greedy) == [f"e.before.{task}.g"]
    assert ids(shown(run, "--id", f"e.after.{task}.1")) == [f"e.after.{task}.1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--task", ""], "more than one task"),
        (["--task", "zz"], "no task of"),
        (["--id", "12"], "t.12.3.1"),
        (["--id", "t.9.0.0"], "steps 1 to 5"),
        (["--id", "t.1.0.9"], "0 to 3"),
        (["--id", "e.before.zz.0"], "no task of evaluation before"),
        (["--id", "e.nowhere.x.0"], "it has before, warm, after"),
        (["--step", "6"], "steps 1 to 5"),
        (["--step", "1", "--group", "3"], "groups are 0 to 2"),
        (["--group", "1"], "--step"),
        (["--evaluation", "none\x1b[2J"], "before"),
        (["--failed", "--passed"], "leave one"),
        (["--id", "t.1.0.0", "--step", "2"], "--id names one"),
        (["--task", "0", "--step", "77"], "of step 77"),
    ],
)
def test_what_is_not_there_is_one_clear_line(run: Path, words: list[str], said: str) -> None:
    done = strop("show", run, *words)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1 and "\x1b" not in done.stderr
    assert said in done.stderr


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = strop("show", folder)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(folder) in done.stderr


def test_an_empty_run_and_a_damaged_one_say_what_they_are(tmp_path: Path) -> None:
    empty = make_run(tmp_path / "empty", steps=0, planned=3, evaluations=(), finished=False)
    assert "empty: no step was done" in shown(empty)
    done = strop("show", empty, "--failed")
    assert done.returncode == 2 and "it has none yet" in done.stderr
    torn = make_run(tmp_path / "torn", steps=3, groups=2, size=2, tasks=1, evaluations=(), finished=False)
    file = RunFolder.read(torn).rollout_file(2)
    file.write_bytes(file.read_bytes()[:4] + b"damaged")
    task = next(RunFolder.read(torn).iter_groups(1)).task_id
    text = shown(torn, "--task", task[:4], "--limit", 99)
    assert "step 1, group 0" in text and "step 3, group 1" in text
    assert f"{file} is damaged and is left out" in text
    last = RunFolder.read(torn).rollout_file(3)
    last.write_bytes(last.read_bytes()[:-20])
    assert f"{last} is torn and is left out" in shown(torn, "--task", task[:4], "--limit", 99)


@pytest.mark.parametrize("columns", [10, 20, 80])
def test_any_width(run: Path, columns: int) -> None:
    for words in ([], ["--step", "2"], ["--id", "t.2.0.0"], ["--evaluation", "before", "--limit", "1"]):
        text = strop_on_terminal(["show", str(run), *words], columns)
        assert widest(text) <= columns and COLOUR.search(text)
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in strop_on_terminal(["show", str(run), "--step", "2"], columns, **variables)


def test_a_rollout_that_contradicts_itself_is_marked(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=1, size=4, evaluations=())
    run = RunFolder.read(folder)
    groups = list(run.iter_groups(1))
    good = groups[0].rollouts[0]
    assert good.verdict is not None
    forged = good.verdict.model_copy(update={"outcome": Outcome.PASSED, "stages": [], "tests": []})
    scores = [s.model_copy(update={"value": 0.0}) for s in good.scores]
    lie: Rollout = good.model_copy(update={"verdict": forged, "scores": scores, "reward": 0.0})
    run.write_rollouts(1, [groups[0].model_copy(update={"rollouts": [lie, *groups[0].rollouts[1:]]})])
    text = shown(folder, "--step", 1)
    assert text.count("contradicts itself") == 1 and "passed, but its score passed is 0" in text


def test_a_task_id_of_any_characters(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=2, groups=1, size=2, tasks=1, evaluations=())
    run = RunFolder.read(folder)
    name = 'HumanEval/0 "quoted" \\ ü'
    for step in (1, 2):
        groups = [
            g.model_copy(
                update={
                    "task_id": name,
                    "rollouts": [r.model_copy(update={"task_id": name}) for r in g.rollouts],
                }
            )
            for g in run.iter_groups(step)
        ]
        run.write_rollouts(step, groups)
    assert len(ids(shown(folder, "--task", name))) == 4
    assert len(ids(shown(folder, "--task", "HumanEval/0"))) == 4


def test_a_task_in_a_long_run_is_found_in_seconds(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", steps=1, groups=32, size=16, tasks=24, evaluations=())
    run = RunFolder.read(folder)
    lines = list(files.lines(run.rollout_file(1)))
    for step in range(2, 60):
        own = (line.replace(b'{"step": 1,', b'{"step": %d,' % step, 1) for line in lines)
        files.write_jsonl_zst(run.rollout_file(step), own)
    task = next(run.iter_groups(1)).task_id
    started = time.monotonic()
    text = shown(folder, "--task", task[:8], "--limit", 1)
    assert time.monotonic() - started < 60
    assert text.count("\n  step ") >= 59
