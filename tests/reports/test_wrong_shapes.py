"""Run folders with JSON of wrong types, in every file: what cannot be used is left out and named, the rest is shown."""

import copy
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scale import some
from typer.testing import CliRunner

from strop.cli import app
from strop.reports.page.page_run import PageRun
from strop.reports.page.run_data import run_data
from strop.reports.run_folder import RunFolder
from strop.reports.static.report import report
from strop.reports.static.sample import sample
from strop.reports.terminal.run_list import list_row
from strop_verify.core import files
from strop_verify.core.errors import UserError

from .made_runs import make_run
from .viewing import viewed

ODD: dict[str, Any] = {
    "null": None, "true": True, "text": "x", "empty text": "", "surrogate": "\ud800", "negative": -1, "zero": 0,
    "huge whole number": 10**400, "huge number": 1e308, "not a number": float("nan"), "infinite": float("inf"),
    "list": [1], "empty list": [], "list of lists": [[], ["a", None]], "object": {"a": 1}, "empty object": {},
    "outcome in a list": ["passed"], "deep object": {"x": {"y": [{}]}},
}  # fmt: skip
WRONG = ("text", "list", "object", "huge whole number")
"""Those that neither a number nor a table may be."""
STEP = Path("rollouts", "step-000001.jsonl.zst")
Keys = tuple[Any, ...]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shapes") / "source"
    return make_run(
        folder,
        steps=3,
        groups=2,
        size=2,
        held_out=1,
        extra=("humaneval",),
        evaluations=("before", "step-000002", "after"),
    )


def places(value: Any, at: Keys = ()) -> Iterator[Keys]:
    """Where something stands in a JSON value; of lists the first two."""
    if at:
        yield at
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, inner in items:
        yield from places(inner, (*at, key))


def put(value: Any, at: Keys, new: Any) -> Any:
    """A copy with something else at that place."""
    if not at:
        return new
    value = copy.copy(value)
    value[at[0]] = put(value[at[0]], at[1:], new)
    return value


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def everything(folder: Path) -> dict[str, Any]:
    """What pages and tables are made from, all of it strict JSON."""
    run = PageRun(folder, "0")
    page = run.page(math.inf)
    problems, details = list(page["state"]["problems"]), []
    for row in (row for unit in sample(run.index, page["evaluations"], 1000, 0) for row in unit):
        try:
            details.append(run.detail(row["id"]))
        except UserError as error:
            problems.append(str(error))
    assert files.json_line([page, details, list_row(folder)])
    return {**page, "problems": problems, "rows": details}


def odd_run(source: Path, target: Path, odd: Any) -> Path:
    """The run with `odd` in place of every value that has a name a reader looks for."""
    shutil.copytree(source, target)
    metrics = [json.loads(text) for text in (source / "metrics.jsonl").read_text().splitlines()]
    names = [*metrics[0], "held_out", "steps", "duplicates", "disagreements", "refused"]
    deep = {
        "rewards": {"a": odd},
        "stages": odd,
        "held_out": {"pass@1": odd, "intervals": {"pass@1": [odd, odd]}},
    }
    bad = [{name: odd for name in names} | {"step": 4}, {**metrics[0], **deep, "step": 5}]
    (target / "metrics.jsonl").write_bytes(b"".join(map(line, [*metrics, *bad])))
    for name in ("summary.json", "versions.json", "evaluation/before.json", "evaluation/after.json"):
        value = json.loads((source / name).read_bytes())
        after = {key: put(value[key], at, odd) for key in value for at in [*places(value[key])][-1:] or [()]}
        (target / name).write_bytes(
            line(after if name.endswith(("summary.json", "after.json")) else dict.fromkeys(value, odd))
        )
    texts = {"prompt": odd, "answer": odd, "seed": odd, "reward": 0.5}
    verdict = dict.fromkeys(("detail", "output", "seconds", "cpu_seconds", "peak_bytes"), odd)
    stage = {"name": "build", **dict.fromkeys(("passed", "seconds", "output", "truncated"), odd)}
    tests = [dict.fromkeys(("id", "outcome", "message", "seconds"), odd)]

    def change(rollout: dict[str, Any]) -> dict[str, Any]:
        return {
            **rollout,
            **texts,
            "verdict": {"outcome": "failed", **verdict, "stages": [stage], "tests": tests},
        }

    lines = [change(json.loads(text)) for text in files.lines(source / STEP)]
    files.write_jsonl_zst(target / STEP, map(line, lines))
    return target


def test_terminal_commands_on_odd_values(source: Path, tmp_path: Path) -> None:
    runs = [odd_run(source, tmp_path / "runs" / name, odd) for name, odd in ODD.items()]
    for run in runs:
        for options in ([], ["--step", "1", "--full"], ["--evaluation", "after"]):
            done = CliRunner().invoke(app, ["show", str(run), *options])
            assert done.exit_code == 0, (run.name, options, done.output)
    table = CliRunner().invoke(app, ["runs", str(tmp_path / "runs")])
    assert table.exit_code == 0 and table.output.count("left out") >= len(WRONG)


def test_metrics_of_wrong_types_are_left_out_and_named(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source, run := tmp_path / "run")
    metrics = [json.loads(text) for text in (source / "metrics.jsonl").read_text().splitlines()]
    metrics[1]["held_out"] = {"pass@1": 0.5, "intervals": {"pass@1": [0.1, 0.9]}}
    for at in some([*places(metrics[1])], 12):
        for name, odd in ODD.items():
            lines = [metrics[0], put(metrics[1], at, odd), metrics[2]]
            (run / "metrics.jsonl").write_bytes(b"".join(map(line, lines)))
            data = run_data(run, "0")
            assert files.json_line([data, list_row(run)])
            named = [problem for problem in data["state"]["problems"] if "line 2" in problem]
            wrong = (
                ("step",),
                ("reward",),
                ("entropy",),
                *([] if name == "object" else [("rewards",), ("stages",)]),
            )
            if name in WRONG and at in wrong:
                assert named, (at, name)
            assert data["metrics"][0]["reward"] == metrics[0]["reward"]


@pytest.mark.parametrize("name", ["summary.json", "versions.json", "evaluation/before.json"])
def test_other_files_of_wrong_types(source: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(source, run := tmp_path / "run")
    value = json.loads((source / name).read_bytes())
    for at in some([*places(value)], 6):
        for odd in ODD.values():
            (run / name).write_bytes(line(put(value, at, odd)))
            assert files.json_line([run_data(run, "0"), list_row(run)])
    (run / name).write_bytes(b"[" * 200_000)
    assert any(name in problem for problem in run_data(run, "0")["state"]["problems"])


@pytest.mark.parametrize("odd", ODD)
def test_rollouts_of_wrong_types(source: Path, tmp_path: Path, odd: str) -> None:
    """A file with a line that is no rollout is left out whole and named; other files are there."""
    shutil.copytree(source, run := tmp_path / "run")
    rollout = max(map(json.loads, files.lines(source / STEP)), key=lambda found: len(str(found["verdict"])))
    evaluation = Path("evaluation", "before.jsonl.zst")
    for at in some([*places(rollout)], 16 if odd in WRONG else 4):
        bad = put(rollout, at, ODD[odd])
        for name in (STEP, evaluation):
            files.write_jsonl_zst(run / name, [line(bad), line(rollout)])
        found = everything(run)
        assert len(found["rows"]) >= 8
        named = (("index",), ("turns",), ("verdict", "stages"), ("scores", 0))
        if odd in WRONG and at in named:
            assert any(STEP.name in problem for problem in found["problems"]), at


def test_deep_lines_and_endless_numbers(source: Path, tmp_path: Path) -> None:
    shutil.copytree(source, run := tmp_path / "run")
    deep = b"[" * 200_000 + b"\n"
    with (run / "metrics.jsonl").open("ab") as file:
        file.write(deep + b'{"step": 1' + b"0" * 5000 + b"}\n" + b'{"step": -1}\n{"step": true}\n')
    files.write_jsonl_zst(run / STEP, [deep])
    (run / "recipe.yaml").write_text("a: &a [*a]\n")
    problems = everything(run)["problems"]
    for words in ("metrics.jsonl: line 4, 5, 6, 7 cannot", STEP.name, "recipe.yaml"):
        assert any(words in problem for problem in problems), words


def odd_folders(source: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """(run, words that the page must say of it)"""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(source, folder / name))

    torn = copied("torn")
    (torn / "summary.json").unlink()
    with (torn / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 4, "rew')
    yield torn, "stopped after step 3 of 3"
    half = copied("half")
    data = (half / STEP).read_bytes()
    (half / STEP).write_bytes(data[: len(data) // 2])
    yield half, f"{STEP.name} is torn"
    bare = folder / "bare"
    bare.mkdir()
    shutil.copy(source / "recipe.yaml", bare)
    yield bare, "empty: no step was done"
    for name in ("metrics.jsonl", "versions.json", "vocabulary.json.zst", "rollouts", "evaluation", "final"):
        run = copied(f"no {name}")
        shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink(missing_ok=True)
        yield run, "finished"
    spoilt = copied("spoilt")
    for name in ("metrics.jsonl", "versions.json", "summary.json", "recipe.yaml", "vocabulary.json.zst"):
        (spoilt / name).write_bytes(b"\xff\x00{[" * 10)
    yield spoilt, "cannot read"
    folders = copied("folders")
    for name in ("versions.json", "vocabulary.json.zst", "metrics.jsonl"):
        (folders / name).unlink()
        (folders / name).mkdir()
    yield folders, "cannot read"


WALK = """async (place) => {
  const address = Strop.link(place);
  Strop.params = () => ({ view: "overview", run: "0", ...Object.fromEntries(new URLSearchParams(address.slice(1))) });
  history.replaceState = () => {};
  await Strop.draw();
  await document.querySelector(".view").drawing;
  const first = document.querySelector("[data-row] a");
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  return [document.querySelector(".failure")?.textContent ?? "", document.querySelector(".status").textContent,
    first ? new URLSearchParams(first.hash.slice(1)).get("id") : ""];
}"""


def walk(page: Any, runs: int) -> list[str]:
    """Goes to all views of every run; the status lines."""
    said = []
    for number in range(runs):
        places = [
            {"view": "rollouts", "step": 1},
            *({"view": view} for view in ("rollouts", "compare", "config")),
        ]
        for place in [{"view": "overview"}, *places] if number == 0 else places:
            failure, status, row = page.evaluate(WALK, {**place, "run": number})
            assert failure == "", (number, place)
            if row:
                assert page.evaluate(WALK, {"view": "rollout", "run": number, "id": row})[0] == ""
        said.append(status)
    return said


@pytest.mark.browser(16)
def test_a_page_of_odd_values(source: Path, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    pytest.importorskip("altair")
    runs = [odd_run(source, tmp_path / name, odd) for name, odd in ODD.items()]
    made = report(runs, tmp_path / "odd.html")
    assert {problem.split(":")[0].rpartition("/")[2] for problem in made.problems} >= {
        "text",
        "list",
        "object",
    }
    walk(open_page(made.path), len(runs))


@pytest.mark.browser(15)
def test_every_state_of_a_folder_opens(source: Path, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    pytest.importorskip("altair")
    found = [*odd_folders(source, tmp_path)]
    running = tmp_path / "torn"
    with RunFolder.resume(Path(shutil.copytree(running, tmp_path / "running"))):
        found.append((tmp_path / "running", "running: step 3"))
        made = report([run for run, _ in found], tmp_path / "states.html")
        said = walk(open_page(made.path), len(found))
        for (run, words), status in zip(found, said, strict=True):
            assert words in status, run.name


@pytest.mark.browser(12)
def test_the_live_page_of_odd_folders(source: Path, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    pytest.importorskip("starlette")
    odd = [
        odd_run(source, tmp_path / name, ODD[name]) for name in ("object", "outcome in a list", "huge number")
    ]
    found = [*odd_folders(source, tmp_path)]
    runs = [*odd, *(run for run, _ in found)]
    with viewed(*runs) as server:
        page = open_page(server.url)
        said = walk(page, len(runs))
        for (run, words), status in zip(found, said[len(odd) :], strict=True):
            assert words in status, run.name
        page.close()
