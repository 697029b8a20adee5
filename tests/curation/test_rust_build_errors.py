"""What a newcomer does wrong with `strop build rust`: one clear line each, and nothing is paid."""

import json
import socket

import pytest

from strop_verify.core.journal import try_lock

pytest.importorskip("openai", reason="openai is not installed")
pytestmark = pytest.mark.rust


def refused(outcome: tuple[int, str, str]) -> str:
    """The one line of an error of the user's."""
    code, out, err = outcome
    assert code == 2 and not out and "Traceback" not in err, (code, out, err)
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, err
    return errors[0]


def test_settings_that_cannot_work(built, prompts, tmp_path) -> None:
    source, out = prompts(2), tmp_path / "out"
    assert "add --url" in refused(built(source, out, "--url", ""))
    assert "must begin with http" in refused(built(source, out, "--url", "localhost:8000"))
    assert "add --model" in refused(built(source, out, "--model", ""))
    assert "needs both prices" in refused(built(source, out, "--price-in", 1))
    assert "needs prices" in refused(built(source, out, "--max-cost", 1))
    assert "three numbers" in refused(built(source, out, "--parts", "1,2"))
    assert "no column 'tex' (did you mean 'text'?)" in refused(
        built(source, out, "--column", "statement=tex")
    )
    assert "no such file" in refused(built(tmp_path / "missing.jsonl", out))
    assert "unknown task source" in refused(built("python-function", out))
    assert not out.exists()


def test_a_server_that_is_not_running(built, prompts, tmp_path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        line = refused(built(prompts(2), tmp_path / "out", url=url))
    assert f"cannot reach {url}" in line and "start the server" in line


@pytest.mark.parametrize(
    ("status", "said", "wanted"),
    [
        (401, "bad key", "set the environment variable OPENAI_API_KEY"),
        (404, "no model m", "knows no model 'm'"),
        (400, "temperature is wrong", "every question is refused"),
    ],
)
def test_a_server_that_refuses(built, model, prompts, tmp_path, status, said, wanted) -> None:
    model.status, model.error = status, said
    assert wanted in refused(built(prompts(20), tmp_path / "out"))
    assert (tmp_path / "out" / "calls.jsonl").read_text() == ""
    model.status = 200
    assert built(prompts(2), tmp_path / "out")[0] == 0


def test_a_server_that_is_something_else(built, model, prompts, tmp_path) -> None:
    model.say = lambda *_: 1 / 0  # the connection breaks
    assert "cannot reach" in refused(built(prompts(1), tmp_path / "out"))
    model.reply = lambda body, key: (200, b"<html>hello</html>")
    assert "did not answer like an OpenAI-compatible server" in refused(built(prompts(1), tmp_path / "out"))


def test_one_question_that_the_server_refuses_drops_its_prompt_alone(built, model, prompts, tmp_path) -> None:
    answer = model.reply

    def reply(body, key):
        if "add_1 " in body["messages"][1]["content"]:
            return 400, json.dumps({"error": {"message": "too long"}}).encode()
        return answer(body, key)

    model.reply = reply
    code, said, _ = built(prompts(3), tmp_path / "out")
    assert code == 0 and said.startswith("2 of 3 prompts kept")
    [line] = (tmp_path / "out" / "dropped.jsonl").read_text().splitlines()
    assert json.loads(line)["stage"] == "refused" and "too long" in line and "127.0.0.1" not in line


def test_a_folder_of_something_else_of_another_build_or_in_use(built, prompts, tmp_path) -> None:
    source, other, out = prompts(2), tmp_path / "other", tmp_path / "out"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    assert "holds notes.txt but nothing of `strop build rust`" in refused(built(source, other))
    assert built(source, out, "--seed", 1)[0] == 0
    assert "seed was 1, now 2" in refused(built(source, out, "--seed", 2))
    lock = try_lock(out / ".lock")
    assert lock is not None
    assert "another `strop build rust` is using" in refused(built(source, out, "--seed", 1))


def test_a_dry_run_sends_and_writes_nothing(built, model, prompts, tmp_path) -> None:
    code, said, _ = built(
        prompts(5),
        tmp_path / "out",
        "--dry-run",
        "--price-in",
        1,
        "--price-out",
        1,
        "--url",
        "",
        "--model",
        "",
    )
    assert code == 0 and "5 prompts, 10 calls" in said and "estimated cost: 0.0" in said
    assert not model.asked and not (tmp_path / "out").exists()


def test_nothing_kept_is_said_and_fails(built, model, prompts, tmp_path) -> None:
    model.say = lambda question, number, *_: f"add_{number}: I would rather not."
    code, said, err = built(prompts(2), tmp_path / "out")
    assert code == 1 and said.startswith("0 of 2 prompts kept") and "dropped.jsonl says why" in err
