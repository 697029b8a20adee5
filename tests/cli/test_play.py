"""One play in the terminal: live, recorded, and what is said where it cannot be."""

import json
import signal
import textwrap
from pathlib import Path

import pytest
from tests import waiting
from tests.reports.made_runs import make_run
from tests.reports.terminals import strop_on_terminal

from strop_verify.core.rollout import Rollout

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "environments"
TRY_AGAIN = f"{EXAMPLES / 'try_again.py'}:TryAgain"
FOLDER_TOOLS = f"{EXAMPLES / 'folder_tools.py'}:FolderTools"
WRONG, RIGHT = "def add(a, b):\n    return a\n", "def add(a, b):\n    return a + b\n"


@pytest.fixture
def script(tmp_path, tasks_file):
    """script(task, answers...) -> the model word of a file with those answers, given in turn."""

    def written(task, *answers):
        lines = (json.dumps({"task_id": task, "answer": answer}) + "\n" for answer in answers)
        (tmp_path / "script.jsonl").write_text("".join(lines))
        return "scripted:script.jsonl"

    return written


def fenced(code):
    return f"```python\n{code}```"


def parts(text):
    """The play's parts, by their headings in order."""
    found = []
    for line in text.splitlines():
        if line.startswith("== "):
            found.append((line[3:], []))
        elif found:
            found[-1][1].append(line)
    return [(name, "\n".join(lines)) for name, lines in found]


def test_turns_events_verdict_and_the_same_from_its_file(strop, tmp_path, script):
    model = script("add", fenced(WRONG), fenced(RIGHT))
    words = ("--tasks", "tasks.jsonl", "-m", model, "-e", TRY_AGAIN)
    done = strop("play", "add", *words, "--save", "play.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"task add, environment {TRY_AGAIN}, model {model}\n")
    played = parts(done.stdout)
    names = ["prompt", "turn 1", "the environment says", "turn 2", "end"]
    assert [name for name, _ in played] == names
    prompt, first, said, second, end = (text for _, text in played)
    assert "Return the sum of a and b." in prompt
    assert "        return a\n" in first and "-> Verify" in first and "<- failed: " in first
    assert "this turn: failed (0 of 2 tests passed)" in first
    assert "That failed." in said and "    return a + b" in second
    assert "verdict  passed" in end and "2 of 2 tests passed" in end and "passed 1.000, reward 1.000" in end
    assert "stop     answered" in end
    line = json.loads((tmp_path / "play.jsonl").read_text())
    times = line["played"]["times"]
    assert set(times) == {"set-up", "environment", "model", "tools", "grading"}
    assert times["tools"] >= line["turns"][0]["events"][0]["seconds"] > 0
    rollout = Rollout.model_validate({k: v for k, v in line.items() if k != "played"})
    sampled = sum(len(turn.completion.token_ids) for turn in rollout.turns)
    counts = (
        f"{len(rollout.turns[0].prompt_ids)} prompt, {sampled} sampled, {len(rollout.turns[1].prompt_ids)}"
    )
    assert counts in end
    again = strop("play", "--replay", "play.jsonl")
    assert again.returncode == 0, again.stderr

    def without_seconds(text):  # of an event: measured by the dispatcher in the record
        return [line for line in text.splitlines() if not line.startswith("-> ")]

    assert without_seconds(again.stdout) == without_seconds(done.stdout)
    assert strop("play", "--replay", "play.jsonl#add/0").stdout == again.stdout
    greedy = strop("play", "add", *words, "--greedy", "--seed", "3", "tasks.environment.tries=1")
    assert [name for name, _ in parts(greedy.stdout)] == ["prompt", "turn 1", "end"]
    assert "verdict  failed" in greedy.stdout


def test_tools_in_a_folder_and_control_characters(strop, tmp_path, script, monkeypatch):
    evil = (
        "run: printf '\\033]0;owned\\007'; printf 'def add(a, b):\\n    return a + b\\n' > answer.py \x1b[2J"
    )
    model = script("add", evil, "run: cat answer.py", "done")
    words = ["play", "1", "--tasks", "tasks.jsonl", "-m", model, "-e", FOLDER_TOOLS]
    done = strop(*words)
    assert done.returncode == 0 and "\x1b" not in done.stdout and "\x07" not in done.stdout
    first, second, third = (text for name, text in parts(done.stdout) if name.startswith("turn"))
    assert "-> Run" in first and "\\x1b]0;owned\\x07" in first and "\\x1b[2J" in first
    said = dict(parts(done.stdout))["the environment says"]
    assert "(the result above)" in said
    assert "<- " in second and "        return a + b" in second and "-> Call  answer()" in third
    assert "verdict  passed" in done.stdout
    monkeypatch.chdir(tmp_path)
    text = strop_on_terminal(words, 60)
    assert "turn 3" in text and "verdict" in text
    for raw in ("\x1b]0", "\x1b[2J", "\x07"):
        assert raw not in text


def test_turns_appear_while_the_play_goes_on_and_an_interrupt_leaves_nothing(start, tmp_path, script):
    model = script("add", "first words", "second words")
    (tmp_path / "slow.py").write_text(
        textwrap.dedent("""
        import pathlib, strop
        class Slow:
            def __init__(self, task, opening, read): self.opening = opening
            def begin(self): return self.opening
            def step(self, completion): return strop.Do(strop.Run(("/bin/sleep", "6543"), seconds=900, lasting=True))
            def result(self, effect, result): return strop.Done("")
            def close(self): pathlib.Path("closed").write_text("yes")
        """)
    )
    process = start(
        "play", "--tasks", "tasks.jsonl", "-m", model, "-e", "slow.py:Slow", "play.order=as-ready"
    )
    seen = ""
    while "ended by itself" not in seen:
        line = process.stdout.readline()
        assert line, process.communicate()
        seen += line
    assert "first words" in seen and process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip().endswith("interrupted")
    assert (tmp_path / "closed").read_text() == "yes"
    waiting.wait_until(lambda: not _running("/bin/sleep\x006543"))


def _running(command):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    return any(command.encode() in line for line in found)


def test_a_turn_that_does_not_count_and_a_play_without_an_answer(strop, tmp_path, script):
    (tmp_path / "calls.py").write_text(
        textwrap.dedent("""
        import strop
        class Calls:
            __slots__ = ("opening",)
            def __init__(self, task, opening, read): self.opening = opening
            def begin(self): return self.opening
            def step(self, completion):
                return strop.Done("write run: COMMAND", reason="no call")
        class Open(Calls): pass
        """)
    )
    model = script("add", "hello", "again")
    texts = []
    for name in ("Calls", "Open"):  # one that takes no attributes is shown at its end
        words = ("--tasks", "tasks.jsonl", "-m", model, "-e", f"calls.py:{name}")
        done = strop("play", *words, "play.stops.no_call=feedback", "play.feedback=1")
        assert done.returncode == 0, done.stderr
        assert [head for head, _ in parts(done.stdout)] == [
            "prompt", "turn 1", "the environment says", "turn 2", "end",
        ]  # fmt: skip
        assert "write run: COMMAND" in done.stdout and "stop     no call" in done.stdout
        texts.append([text for _, text in parts(done.stdout)[:2]])
    assert texts[0][0] == texts[1][0]


def test_a_run_s_rollouts_are_replayed(strop, tmp_path):
    run = make_run(tmp_path / "run", steps=1, groups=1, size=2, turns=3, evaluations=("before", "after"))
    text = strop("play", "--replay", "run#t.1.0.1").stdout
    assert [name for name, _ in parts(text)].count("the environment says") == 2
    assert "It does not pass: 1 of 3 tests failed. Try again." in text and "tokens " in text
    file = run / "rollouts" / "step-000001.jsonl.zst"
    line = parts(strop("play", "--replay", f"{file}#/1").stdout)
    assert line == parts(text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ad", "-m", "scripted:script.jsonl", "-e", "tryagain"), "no environment named 'tryagain'"),
        (("dduble", "-m", "scripted:script.jsonl"), "did you mean 'double'?"),
        (("7", "-m", "scripted:script.jsonl"), "it has 1 to 2"),
        (("add", "double", "-m", "scripted:script.jsonl"), "takes one task, not 2"),
        (("add",), "--model is missing"),
        (("double", "-m", "scripted:script.jsonl"), "none of its task_ids"),
        (("-m", "scripted:nowhere.jsonl"), "no such file of answers"),
        (("-m", "./nowhere"), "/nowhere"),
        (("-m", "scripted:script.jsonl", "-e", TRY_AGAIN, "tasks.environment.tris=3"), "did you mean tries?"),
        (("-m", "scripted:script.jsonl", "--save", "/dev/null/file"), "/dev/null is not a folder"),
        (("--replay", "nowhere.jsonl"), "no such file or run"),
        (("--replay", "script.jsonl"), "holds no rollouts"),
        (("--replay", "script.jsonl", "-m", "x"), "--replay shows a recorded play"),
        (("--replay", "."), "not a run folder"),
    ],
)
def test_a_mistake_is_one_clear_line(strop, script, words, said):
    script("add", "x")
    tasks = () if "--replay" in words else ("--tasks", "tasks.jsonl")
    done = strop("play", *words, *tasks)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1 and said in done.stderr, done.stderr


def test_a_reader_that_has_enough_is_no_fault_of_the_environment(start, script):
    model = script("add", "x", "y")
    process = start("play", "--tasks", "tasks.jsonl", "-m", model, "-e", TRY_AGAIN)
    process.stdout.close()
    assert process.wait(timeout=60) == 1 and process.stderr.read() == ""
