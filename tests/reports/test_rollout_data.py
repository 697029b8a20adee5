import json
import math
from itertools import pairwise

import pytest

from strop.reports.page.colours import runs_of
from strop.reports.page.rollout_data import (
    MOST_EVENTS,
    MOST_TEXT,
    MOST_TOKENS,
    ROW_TEXT,
    detail_of,
    language_of,
    load_vocabulary,
    mean_and_signal,
    numbered,
    row_of,
    task_of,
)
from strop.reports.rollout_files import evaluation_file, read_whole, step_file
from strop.reports.run_folder import RunFolder
from strop.reports.static.sample import Picked, body
from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import EVENT_TEXT

from .made_runs import make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(
        tmp_path_factory.mktemp("runs") / "run", steps=2, groups=3, size=4, language="rust", turns=2
    )


@pytest.fixture
def line(run):
    return next(read_whole(step_file(run, 1).path))


def test_rows_say_what_the_records_say(run):
    where = step_file(run, 2)
    rows = [row_of(line, where) for line in read_whole(where.path)]
    records = [(n, r) for n, g in enumerate(RunFolder.read(run).iter_groups(2)) for r in g.rollouts]
    assert len(rows) == len(records) == 12
    for row, (group, record) in zip(rows, records, strict=True):
        assert row["id"] == f"t.2.{group}.{record.index}"
        assert (row["kind"], row["step"], row["evaluation"], row["greedy"]) == ("train", 2, "", False)
        assert row["task"] == record.task_id and row["outcome"] == record.verdict.outcome.value
        assert row["reward"] == pytest.approx(record.reward) and row["truncated"] == record.truncated
        assert row["stages"] == {stage.name: stage.passed for stage in record.verdict.stages}
        assert row["tokens"] == sum(record.flat()[1])
        assert row["scores"] == {score.name: score.value for score in record.scores}
        assert row["flags"] == record.flags
        assert row["text"] == record.turns[-1].completion.text.strip("\n")[:ROW_TEXT] + "\n}"


def test_the_greedy_answers_of_an_evaluation_have_ids_of_their_own(run):
    where = evaluation_file(run, "after")
    rows = [row_of(line, where) for line in numbered(read_whole(where.path))]
    assert len({row["id"] for row in rows}) == len(rows) == 15
    assert sum(row["greedy"] for row in rows) == 5
    greedy = next(row for row in rows if row["greedy"])
    assert greedy["id"] == f"e.after.{greedy['task']}.g" and greedy["step"] is greedy["group"] is None


def test_a_task_drawn_twice_in_a_step_is_not_greedy(line, run):
    assert not row_of({**line, "greedy": True}, step_file(run, 1))["greedy"]


def test_tokens_of_a_detail_are_the_texts_with_the_environment_s_masked(line, run):
    detail = detail_of(line, step_file(run, 1), load_vocabulary(run), "rust")
    first, second = detail["turns"]
    assert first["given"] == "" and {mask for *_, mask in first["tokens"]} == {1}
    assert (
        "".join(piece for piece, *_ in first["tokens"])
        == first["text"]
        == line["turns"][0]["completion"]["text"]
    )
    given = [token for token in second["tokens"] if token[3] == 0]
    assert (
        "".join(piece for piece, *_ in given)
        == second["given"]
        == "\nIt does not pass: 1 of 3 tests failed. Try again.\n"
    )
    assert all(logprob is entropy is None for _, logprob, entropy, _ in given)
    assert second["tokens"][: len(given)] == given
    completion = line["turns"][1]["completion"]
    assert [t[1] for t in second["tokens"][len(given) :]] == pytest.approx(completion["logprobs"], rel=1e-3)
    assert [t[2] for t in second["tokens"][len(given) :]] == pytest.approx(completion["entropies"], rel=1e-2)


def test_old_lines_without_entropies_flags_and_vocabulary(line, run, tmp_path):
    for turn in line["turns"]:
        del turn["completion"]["entropies"]
    del line["flags"]
    assert load_vocabulary(tmp_path) == []
    detail = detail_of(line, step_file(run, 1))
    token = line["turns"][0]["completion"]["token_ids"][0]
    assert detail["turns"][0]["tokens"][0][0] == f"⟨{token}⟩" and detail["turns"][0]["tokens"][0][2] is None
    assert row_of(line, step_file(run, 1))["flags"] == []


def test_a_rollout_without_verdict_and_answer(line, run):
    line.update(
        verdict=None, answer="", reward=None, advantage=None, scores=[{"name": "passed", "value": None}]
    )
    row, detail = row_of(line, step_file(run, 1)), detail_of(line, step_file(run, 1))
    assert (row["outcome"], row["reward"], row["stages"], row["scores"]) == (
        "no verdict",
        None,
        {},
        {"passed": None},
    )
    assert row["text"] == line["turns"][-1]["completion"]["text"].strip("\n")
    assert (detail["verdict"], detail["colours"], detail["answer"]) == (None, [], "")


def test_what_is_too_long_is_cut_and_said(line, run):
    line["answer"] = "x" * (MOST_TEXT + 7)
    completion = line["turns"][0]["completion"]
    completion["token_ids"] = [0] * (MOST_TOKENS + 3)
    completion["logprobs"] = [-1.0] * (MOST_TOKENS + 3)
    completion["entropies"] = []
    detail = detail_of(line, step_file(run, 1))
    assert detail["answer"].endswith("... 7 more characters") and detail["left_out"]
    assert len(detail["turns"][0]["tokens"]) == MOST_TOKENS and detail["turns"][0]["tokens_left_out"] == 3
    assert row_of(line, step_file(run, 1))["tokens"] > MOST_TOKENS


def test_events_of_a_turn(line, run):
    """What is there is shown, cut; what has another shape is left out, and turns without events have no such key."""
    event = {"name": "Verify", "asked": "answer", "result": "passed", "seconds": 0.12345, "bytes": 6}
    odd = {"name": None, "asked": ["x"], "seconds": "long", "bytes": math.nan, "other": 1}
    for turn in line["turns"]:
        turn["events"] = [
            event,
            odd,
            3,
            "no event",
            {**event, "name": "n" * 90, "result": "y" * (EVENT_TEXT + 7)},
        ]
    first, second = detail_of(line, step_file(run, 1))["turns"]
    whole, damaged, long = first["events"]
    assert whole == {**event, "seconds": 0.1235} and first["events_left_out"] == 0
    assert damaged == {"name": "", "asked": "['x']", "result": "", "seconds": None, "bytes": None}
    assert long["name"].endswith("n\n... 10 more characters") and long["result"].endswith(
        "... 7 more characters"
    )
    assert second["events"] == first["events"]
    line["turns"][0]["events"] = [event] * (MOST_EVENTS + 3)
    line["turns"][1]["events"] = {"name": "no list"}
    first, second = detail_of(line, step_file(run, 1))["turns"]
    assert len(first["events"]) == MOST_EVENTS and first["events_left_out"] == 3
    assert "events" not in second


def test_a_turn_s_verdict_and_why_the_play_ended(line, run):
    """What has another shape than expected is left out, never an error."""
    where = step_file(run, 1)
    plain = detail_of(line, where)
    assert (plain["stop_reason"], plain["carries"]) == ("answered", "")
    assert not any({"verdict", "reward", "advantage"} & turn.keys() for turn in plain["turns"])
    tests = [
        {"id": "a", "outcome": "passed"},
        {"id": "b", "outcome": "failed"},
        "none",
        {"outcome": ["passed"]},
    ]
    line["turns"][0] |= {
        "verdict": {"outcome": "failed", "detail": "x" * 400, "tests": tests},
        "reward": 0.25,
    }
    line["turns"][1] |= {"verdict": ["failed"], "reward": "much", "advantage": -0.5}
    detail = detail_of({**line, "stop_reason": "max turns", "left_out": "scores"}, where)
    first, second = detail["turns"]
    assert (first["verdict"]["outcome"], first["verdict"]["tests"], first["verdict"]["passed"]) == (
        "failed",
        3,
        1,
    )
    assert first["verdict"]["detail"].endswith("... 100 more characters") and first["reward"] == 0.25
    assert second["advantage"] == -0.5 and "verdict" not in second and "reward" not in second
    assert (detail["stop_reason"], detail["carries"]) == ("max turns", "no scores and no loss")
    for odd in (3, ["loss"], {"a": 1}, True):
        line["turns"][0]["verdict"] = {"outcome": odd, "detail": odd, "tests": odd}
        shown = detail_of({**line, "stop_reason": odd, "left_out": odd}, where)
        assert isinstance(shown["stop_reason"], str) and shown["carries"] == ""


def test_events_are_cut_where_a_report_cuts_texts(line, run):
    line["turns"][0]["events"] = [{"name": "Verify", "asked": "a" * 300, "result": "b" * 300}]
    where = step_file(run, 1)
    picked = Picked(row_of(line, where), detail_of(line, where), [])
    first, second = body(picked, 100)["turns"]
    assert first["events"][0]["asked"] == "a" * 100 + "\n... 200 more characters"
    assert first["events"][0]["result"].startswith("b" * 100 + "\n") and "events" not in second


@pytest.mark.parametrize(
    ("rewards", "advantages", "found"),
    [
        ([], [], (None, 0)),
        ([1.0], [0.25], (1.0, 1)),  # a running baseline
        ([1.0], [0.0], (1.0, 0)),
        ([0.5, 0.5], [0.0, None], (0.5, 0)),
        ([0.0, 1.0], [None, None], (0.5, 1)),
    ],
)
def test_the_mean_of_a_group_and_its_signal(rewards, advantages, found):
    assert mean_and_signal(rewards, advantages) == found


@pytest.mark.parametrize("broken", [{}, {"turns": 3}, {"turns": [{}], "task_id": "a", "index": 0}])
def test_lines_that_are_no_rollouts_raise_what_the_module_says(broken, run):
    from strop.reports.page.rollout_data import NO_ROLLOUT

    with pytest.raises(NO_ROLLOUT):
        row_of(broken, step_file(run, 1))


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("/// Return the sum.\n///\n/// f(1) == 2\npub fn f(x: i64) -> i64 {", "rust"),
        ('def f(x: int) -> int:\n    """Add one.\n\n    >>> f(1)\n    2\n    """', "python"),
        ("<system>\nYou write Rust. ```rust\n<user>\nSort the list.\n\nfn f()\n<assistant>\n", "rust"),
        ("<user>\nWrite it in one ```python block.\n<assistant>\n", "python"),
        ("#include <stdio.h>\n// Print two.\nint main(void) {", "c"),
        ("x = ", ""),
    ],
)
def test_what_was_asked_and_in_which_language(prompt, language):
    line = {"task_id": "t1", "prompt": prompt, "answer": ""}
    assert task_of(line) == {"label": "t1", "language": language}
    assert task_of({**line, "task_name": "add"})["label"] == "add"


def test_the_language_is_told_from_the_answer_or_as_the_caller_says():
    assert language_of("Sort.", "fn main() {}") == "rust"
    assert language_of("Sort.", "def f(x):\n    pass") == "python"
    assert language_of("Sort.", "", "rust") == "rust"


@pytest.mark.parametrize("language", ["rust", "python", "c", "javascript", "", "no such language"])
@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "\r\n x", "\ufeffa", "fn main() { let x: i64 = 1; } // é 🦀\n", "'''", "a" * 9000,
     "\x00\u202e</script>",
     "def f():\n\treturn 'x'  \n"],
)  # fmt: skip
def test_runs_of_colours_cover_the_text(text, language):
    runs = runs_of(text, language)
    assert sum(length for _, length in runs) == len(text)
    assert all(length > 0 and name in ("", *"kscnfto") for name, length in runs)
    assert all(one[0] != two[0] for one, two in pairwise(runs))


def test_colours_say_what_is_what():
    text = 'fn add(x: i64) -> i64 { x + 41 } // "sum"'
    runs, at, seen = runs_of(text, "rust"), 0, {}
    for name, length in runs:
        seen[text[at : at + length].strip()] = name
        at += length
    assert seen["fn"] == "k" and seen["add"] == "f" and seen["41"] == "n" and seen['// "sum"'] == "c"


def test_torn_and_damaged_files_are_refused(run, tmp_path):
    whole = step_file(run, 1).path.read_bytes()
    path = tmp_path / "x.jsonl.zst"
    for data, cause in [
        (whole[: len(whole) // 2], "torn"), (whole[:3], "torn"), (b"", "torn"), (b"no zstd at all", "damaged"),
        (whole[:40] + bytes(80) + whole[120:], "damaged"),
    ]:  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(UserError, match=cause) as caught:
            list(read_whole(path))
        assert str(path) in str(caught.value)
    files.write_jsonl_zst(path, [b'{"a": 1}\n', b'{"b"\n', b'{"c": 1}\n'])
    with pytest.raises(UserError, match="line 2"):
        list(read_whole(path))
    files.write_jsonl_zst(path, [b'{"a": 1}\n', b'{"b": 1}'])
    with pytest.raises(UserError, match="last line has no end"):
        list(read_whole(path))
    with pytest.raises(UserError, match="No such file"):
        list(read_whole(tmp_path / "none"))


def test_whole_files_are_read_as_they_are(tmp_path):
    values = [{"text": "x\u2028\x85" * 50_000, "n": n} for n in range(20)]
    files.write_jsonl_zst(tmp_path / "x", map(files.json_line, values))
    assert list(read_whole(tmp_path / "x")) == values == [json.loads(json.dumps(v)) for v in values]
    files.write_jsonl_zst(tmp_path / "y", [])
    assert list(read_whole(tmp_path / "y")) == []
