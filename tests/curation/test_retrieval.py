"""`strop build retrieval` on histories that the tests make: what is asked, what matters, what is left out and why."""

import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import warm

from strop.environments.search_tree import tree_of_check
from strop.tasks import load_tasks, write_tasks
from strop.tasks.sources import iter_tasks
from strop_tasks.curation.edits.repository import gather
from strop_tasks.curation.engine.tally import split_of
from strop_tasks.curation.retrieval.commits import changed_lines, names_file, not_blank
from strop_tasks.curation.retrieval.function_tasks import changed
from strop_verify.core.checks import EditCheck, ProjectCheck, RetrievalCheck
from strop_verify.core.errors import UserError
from strop_verify.core.ranges import write_ranges
from strop_verify.core.snapshots import archive, digest_of
from strop_verify.core.task import Task

CORE = "import os\n\n\ndef add(a, b):\n    return a - b\n\n\ndef double(x):\n    return add(x, x)\n"
SHOW = """def as_text(a):
    \"\"\"Turns a number into words of English, the way that a person would read it aloud.

    Hundreds are joined by "and".
    \"\"\"
    words = []
    for digit in str(a):
        words.append(digit)
    return " ".join(words)
"""
Files = dict[str, str | bytes | None]


class Made:
    """A git repository, and a way to commit to it on a day."""

    def __init__(self, folder: Path, objects: str = "sha1") -> None:
        self.folder, self.day = folder, 0
        if not folder.exists():
            folder.mkdir(parents=True)
            self.git("init", "-q", "-b", "main", f"--object-format={objects}")

    def git(self, *words: str) -> str:
        when = f"2024-01-{self.day + 1:02}T12:00:00Z"
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "core.autocrlf=false"]
        environment = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        command = ["git", *who, *words]
        done = subprocess.run(
            command, cwd=self.folder, check=True, capture_output=True, text=True, env=environment
        )
        return done.stdout.strip()

    def commit(self, message: str, files: Files, author: str = "") -> str:
        self.day += 1
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                file.unlink()
            else:
                file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, *([f"--author={author}"] if author else []))
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Made(tmp_path_factory.mktemp("made") / "sums")
    repo.commit(
        "First version of the sums", {"sums/core.py": CORE, "sums/show.py": SHOW, "tests/test_a.py": "1\n"}
    )
    fixed = CORE.replace("a - b", "a + b")
    repo.commit(
        "Add instead of subtracting\n\nSigned-off-by: A <a@b>",
        {"sums/core.py": fixed, "tests/test_a.py": "2\n"},
    )
    longer = fixed.replace("import os\n", "import os\nimport sys\n")
    repo.commit("Read the arguments of the process", {"sums/core.py": longer, "sums/new.py": "x = 1\n"})
    repo.git("mv", "sums/core.py", "sums/basic.py")
    repo.commit(
        "Doubles are computed by multiplication", {"sums/basic.py": longer.replace("add(x, x)", "2 * x")}
    )
    repo.commit("Put more words into basic than before", {"sums/basic.py": longer})
    repo.commit("Say what is done here in comments", {"sums/basic.py": "# Sums\n" + longer})
    repo.commit("Minor style fixes and code cleanups", {"sums/basic.py": "# Sums\nx = 1\n" + longer})
    repo.commit("Get ready for the second edition", {"sums/about.py": "VERSION = 1\n"})
    repo.commit("Sums know what edition they are", {"sums/about.py": "VERSION = 2\n"})
    repo.commit("Nothing changes with the empty ones", {})
    repo.commit("Neither does it with the second", {})
    repo.commit("Only tests are changed by this", {"tests/test_a.py": "3\n"})
    repo.commit("Write everything anew from the start", {"sums/new.py": "x = 1\n" * 300})
    repo.commit("And throw it all away again now", {"sums/new.py": None})
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.commit("Numbers are read from the right", {"sums/show.py": SHOW.replace("str(a)", "str(a)[::-1]")})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge the side", "side")
    return repo.folder


@pytest.fixture(scope="module")
def built(history: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks of a folder, of a bundle of another history, and of a copy of the first."""
    folder = tmp_path_factory.mktemp("built")
    other = Made(folder / "made")
    other.commit("First version of the others", {"lib/far.py": "def far(a):\n    return a > 9\n"})
    other.commit("Numbers from eight on are remote", {"lib/far.py": "def far(a):\n    return a > 7\n"})
    for source, name in ((history, "copy"), (other.folder, "other")):
        bundle = ["git", "bundle", "create", "-q", str(folder / f"{name}.bundle"), "HEAD"]
        subprocess.run(bundle, cwd=source, check=True)
    done = warm.strop(
        "build", "retrieval", str(history), "other.bundle", "copy.bundle", "-o", "out.jsonl", "--docstrings", "5",
        "--held-out", "other",
        "--newest-share", "0.25", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "7 search tasks (2 held-out, 5 train)" in done.stdout
    return folder


def of(folder: Path, repository: str) -> dict[str, Task]:
    tasks = [task for task in load_tasks(str(folder / "out.jsonl")) if task.topic == repository]
    return {task.statement: task for task in tasks}


def test_messages_and_lines_of_the_parent(built: Path) -> None:
    truths = {said: task.check.only(RetrievalCheck).truth for said, task in of(built, "sums").items()}
    docstring = next(said for said in truths if said.startswith("Turns a number"))
    assert truths.pop(docstring) == {"sums/show.py": [(1, 5)]}
    assert truths == {
        "Add instead of subtracting": {"sums/core.py": [(5, 5)]},
        "Read the arguments of the process": {
            "sums/core.py": [(1, 1)]
        },  # an insertion: the line in front of it
        "Doubles are computed by multiplication": {
            "sums/core.py": [(10, 10)]
        },  # the name before it was renamed
        "Write everything anew from the start": {"sums/new.py": [(1, 1)]},
        "Numbers are read from the right": {"sums/show.py": [(7, 7)]},
    }


def test_every_truth_is_in_its_tree(built: Path) -> None:
    for repository in ("sums", "other"):
        for task in of(built, repository).values():
            check = task.check.only(RetrievalCheck)
            assert task.reference == write_ranges(check.truth)
            with tree_of_check(check) as tree:
                assert all(spans[-1][1] <= len(tree.lines(path)) for path, spans in check.truth.items())
                assert not any(
                    task.statement.split("\n")[0] in "\n".join(tree.lines(path)) for path in tree.texts
                )


def test_sides_and_reasons(built: Path) -> None:
    assert {task.split for task in of(built, "other").values()} == {"held-out"}
    late = [said for said, task in of(built, "sums").items() if task.split == "held-out"]
    assert late == ["Numbers are read from the right"]
    manifest = json.loads((built / "out.jsonl.manifest.json").read_text())
    assert manifest["left_out"] == {
        "a bump or release": 2,
        "a merge": 2,
        "changes no existing program": 6,
        "changes only comments, docstrings or layout": 2,
        "huge": 2,
        "made before": 6,
        "gives no location": 4,
        "the first commit": 3,
        "the message names a file that matters": 2,
    }
    assert manifest["considered"] == sum(manifest["left_out"].values()) + manifest["tasks"]


@pytest.mark.parametrize(
    ("days", "share", "held_out"),
    [
        ("33221", 0.2, "33"),  # whole days
        ("33221", 0.7, "3322"),
        ("11111", 0.2, "1"),  # of one day: just so many
        ("21111", 0.5, "21"),
        ("321", 0.0, ""),
        ("321", 1.0, "321"),
    ],
)
def test_the_newest_days_are_held_out(days: str, share: float, held_out: str) -> None:
    tasks = [
        Task(
            id=str(number),
            statement="x",
            topic="shop",
            check=RetrievalCheck(tree="t", truth={}),
            metadata={"kind": "commit", "date": day},
        )
        for number, day in enumerate(days)
    ]
    split = list(split_of(tasks, [], share))
    assert "".join(str(task.metadata["date"]) for task in split if task.split == "held-out") == held_out
    assert [task.id for task in split] == [task.id for task in tasks]


@pytest.mark.train(15)
def test_a_dry_run_plays_as_the_expert_does(built: Path) -> None:
    short = "play.max_tokens=1200"  # in tokens of the model, not of the expert
    done = warm.strop(
        "train", "retrieval-laptop", "tasks.source=out.jsonl", "sft.demos=null", "sft.warm_start=false", short,
        "evaluation.before=true", "--dry-run", cwd=built,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = "rewards of a play of the environment's expert: score 1, score_files 1, score_lines 1"
    assert said in done.stdout + done.stderr


def test_the_trees_move_with_the_tasks(built: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    subprocess.run(["cp", "-r", str(built), str(moved)], check=True)
    task = next(iter_tasks(str(moved / "out.jsonl")))
    assert task.check.only(RetrievalCheck).tree == str(moved / "out.trees.git")
    assert json.loads((moved / "out.jsonl").read_text().split("\n")[0])["check"]["tree"] == "out.trees.git"


def test_bugs_of_a_project(tmp_path: Path) -> None:
    files = {"sums/core.py": CORE.replace("a - b", "a + b").encode(), "README": b"Sums\n"}
    (tmp_path / "p.project.tar.gz").write_bytes(archive(files))
    judge = ProjectCheck(project="p.project.tar.gz", digest=digest_of(files), failing=["t.py::a"])
    oracle = {"sums/core.py": CORE.replace("a - b", "a + b")}
    check = EditCheck(format="whole-file", files={"sums/core.py": CORE}, oracle=oracle, judge=judge)  # type: ignore[arg-type]
    told = "Fix the bug in `add` (sums/core.py).\n\nThe test `tests/test_core.py::Sums::test_add` fails:\n\n    -1 != 3"
    where = "Fix the bug in `add` (sums/core.py)."
    tasks = [
        Task(statement=said, check=check, topic="sums")
        for said in (told, where, "Mend sums.core, which subtracts.")
    ]
    write_tasks(tasks, tmp_path / "bugs.jsonl")
    done = warm.strop("build", "retrieval", "bugs.jsonl", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (task,) = load_tasks(str(tmp_path / "out.jsonl"))
    assert task.topic == "sums", "what is held out by its name holds its bugs out too"
    assert task.statement == "The test `Sums::test_add` fails:\n\n    -1 != 3"
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["left_out"] == {"says too little": 1, "the message names a file that matters": 1}
    found = task.check.only(RetrievalCheck)
    assert (found.truth, task.split, task.metadata["kind"]) == ({"sums/core.py": [(5, 5)]}, "train", "bug")
    with tree_of_check(found) as tree:
        assert tree.lines("sums/core.py")[4] == "    return a - b" and tree.lines("README") == ["Sums"]


def test_the_text_of_an_issue_that_a_commit_closes_is_the_request(tmp_path: Path) -> None:
    repo = Made(tmp_path / "sums")
    repo.commit("First version of the sums", {"sums/core.py": CORE})
    repo.commit("Fixes #7", {"sums/core.py": CORE.replace("a - b", "a + b")})
    repo.commit("Twice what it was, see #7", {"sums/core.py": CORE.replace("add(x, x)", "2 * x")})
    repo.commit("Closes #8 and resolves #9", {"sums/core.py": CORE.replace("add(x, x)", "3 * x")})
    issues = [
        {"number": 7, "title": "1 + 1 is 0", "body": "I added one and one, and got nothing."},
        {"number": 9, "title": "Mend core.py", "body": None},
    ]
    (tmp_path / "issues.json").write_text(json.dumps(issues))
    command = ("build", "retrieval", "sums", "-o", "out.jsonl", "--newest-share", "0", "--issues")
    done = warm.strop(*command, "sums=issues.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = {task.statement: task.metadata.get("issue") for task in load_tasks(str(tmp_path / "out.jsonl"))}
    assert said == {
        "1 + 1 is 0\n\nI added one and one, and got nothing.": 7,
        "Twice what it was, see #7": None,
    }
    manifest = json.loads((tmp_path / "out.jsonl.manifest.json").read_text())
    assert manifest["left_out"] == {"the message names a file that matters": 1, "the first commit": 1}
    (tmp_path / "rows.json").write_text("[1]")
    for word, why in (
        ("sums", "write REPOSITORY=FILE.json"),
        ("sum=issues.json", "no source has this name; there are sums"),
        ("sums=none.json", "No such file"),
        ("sums=rows.json", "not a list of issues; gh issue list"),
    ):
        done = warm.strop(*command, word, cwd=tmp_path)
        assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


def test_formats_of_gits_objects_are_not_mixed(tmp_path: Path) -> None:
    files: Files = {"a/core.py": CORE}
    folders = [str(tmp_path / name) for name in ("short", "long", "longer")]
    for folder, kind in zip(folders, ("sha1", "sha256", "sha256"), strict=True):
        Made(Path(folder), kind).commit("First version of the sums", files)
    bundle = tmp_path / "packed.bundle"
    subprocess.run(["git", "bundle", "create", "-q", str(bundle), "HEAD"], cwd=folders[1], check=True)
    store = tmp_path / "store"
    gather([folders[2], str(bundle)], store)
    listed = subprocess.run(["git", "branch"], cwd=store, capture_output=True, text=True, check=True).stdout
    assert listed.split() == ["*", "longer", "packed"]
    with pytest.raises(UserError, match=r"format is sha256, that of .*short is sha1"):
        gather(folders, store)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "'nowhere' is neither a git repository nor a bundle"),
        (["none.jsonl"], "none.jsonl: no such file; make one with strop build bugs"),
        (["broken.bundle"], "broken.bundle: the bundle holds no branch"),
        (["SUMS", "--held-out", "sim"], "--held-out sim: no task comes from it; there are sums"),
        (["SUMS", "SUMS"], "two sources are called 'sums'"),
    ],
)
def test_mistakes_are_told_in_a_line(history: Path, tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "broken.bundle").write_text("# v2 git bundle\nxx")
    given_words = [str(history) if word == "SUMS" else word for word in words]
    done = warm.strop("build", "retrieval", *given_words, "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.bundle"]


def test_baselines_stand_in_one_table(built: Path) -> None:
    done = warm.strop(
        "eval", "scripted:bm25-files", "scripted:bm25-chunks", "scripted:grep", "scripted:words",
        "scripted:words-first", "scripted:random", "scripted:oracle", "--tasks", "out.jsonl",
        "--environment", "{type: search, candidates: 2}", "-n", "0", "-o", "numbers.json", cwd=built,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    models = json.loads((built / "numbers.json").read_text())["models"]
    scores = {name.removeprefix("scripted:"): one["greedy-score"] for name, one in models.items()}
    assert (
        scores["oracle"] == 1 > scores["grep"] > 0 and scores["bm25-files"] > 0 and scores["bm25-chunks"] > 0
    )
    assert 1 > scores["words-first"] > 0 and 1 > scores["words"] > 0
    assert (
        "greedy-score" in done.stdout
        and models["scripted:grep"]["intervals"]["greedy-score"][0] < scores["grep"]
    )


class Grepping(BaseHTTPRequestHandler):
    """An OpenAI-compatible server whose model greps for words, then names the first line that was found."""

    def do_POST(self) -> None:
        said = [
            one["content"]
            for one in json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        ]
        if len(said) == 2:
            text = "".join(f"<grep>{word.lower()}</grep>" for word in re.findall(r"\w{4,}", said[1])[:8])
        else:
            assert len(said) == 4 and said[2].startswith("<grep>")
            text = f"<finish>{next(iter(re.findall(r'[a-z/]+[.]py:[0-9]+', said[3])), 'none.py:1')}</finish>"
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        self.say({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})

    def do_GET(self) -> None:
        self.say({"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "me"}]})

    def say(self, reply: dict[str, object]) -> None:
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.jail
def test_a_model_behind_a_server_plays_the_same_searches(built: Path) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    with ThreadingHTTPServer(("127.0.0.1", 0), Grepping) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = warm.strop(
            "eval", f"openai:m@http://127.0.0.1:{server.server_port}/v1", "scripted:random",
            "--tasks", "out.jsonl", "--environment", "search", "-n", "0", "-o", "served.json", cwd=built,
        )  # fmt: skip
        server.shutdown()
    assert done.returncode == 0, done.stderr
    models = json.loads((built / "served.json").read_text())["models"]
    served = next(one for name, one in models.items() if "m@" in name or name.startswith("openai"))
    assert 0.1 < served["greedy-score"] < 1, "it finds files by words, and seldom the lines"


def test_a_baseline_is_for_searches(built: Path) -> None:
    done = warm.strop("eval", "scripted:grep", "--tasks", "out.jsonl", "-n", "0", cwd=built)
    assert "add --environment search" in done.stderr and done.returncode != 0
    done = warm.strop("eval", "scripted:grap", "--tasks", "out.jsonl", "-n", "0", cwd=built)
    assert "baselines are bm25-files" in done.stderr and done.returncode == 2


@pytest.mark.jail
def test_plays_of_an_expert_with_candidates_count_by_their_score(built: Path) -> None:
    few = ["tasks.source=out.jsonl", "tasks.environment={type: search, candidates: 3, short: true}"]
    made = {}
    for score in ("1", ".5"):
        done = warm.strop("build", "demos", *few, "-o", f"demos{score}.jsonl", "--score", score, cwd=built)
        assert done.returncode == 0, done.stderr
        lines = (built / f"demos{score}.jsonl").read_text().splitlines()
        made[score] = {demo["task_id"]: demo["messages"] for demo in map(json.loads, lines)}
    assert made["1"].keys() < made[".5"].keys()
    told = [one[-1]["content"] for one in made[".5"].values() if len(one) == 3]
    assert told and all(re.fullmatch(r"<finish>(f\d:[\d,-]+\n?)+</finish>", text) for text in told)


LINES = st.lists(st.sampled_from(["a\n", "b\n", "-- a/x\n", "++ b/y\n", "@@ -1 +1 @@\n", "\n"]), max_size=8)


@given(LINES, LINES)
def test_a_diff_is_read_as_its_texts_differ(before: list[str], after: list[str]) -> None:
    """Every line that is no truth is kept, and the kept lines stand in the new text in their order."""
    if not before:
        return
    spans = changed("".join(before), "".join(after))
    gone = {line for first, last in spans for line in range(first, last + 1)}
    kept = [text for number, text in enumerate(before, 1) if number not in gone]
    rest = iter(after)
    assert all(line in rest for line in kept)
    assert bool(spans) == (before != after)


def test_lines_that_look_like_heads_of_a_diff(tmp_path: Path) -> None:
    repo = Made(tmp_path / "odd")
    repo.commit("One", {"a b.py": "-- a/x.py\n@@ -1,9 +1 @@\nthree\nfour", "ö.py": "x\n"})
    repo.commit("Two", {"a b.py": "++ b/x.py\nthree\nfour!\n", "ö.py": "y\n"})
    diff = repo.git("diff", "-U0", "HEAD~1", "HEAD")
    assert changed_lines(diff) == {"a b.py": [(1, 2), (4, 4)], "ö.py": [(1, 1)]}


@pytest.mark.parametrize(
    ("text", "spans", "found"),
    [
        ("a\n\n\nb\n", [(3, 3)], [(1, 1)]),
        ("a\n\n \nb\n", [(2, 3), (4, 4)], [(1, 1), (4, 4)]),
        ("\n\nb\n", [(1, 1)], [(3, 3)]),
        ("a\n\nb\n", [(1, 2)], [(1, 2)]),
        ("a\nb\n\n", [(1, 1), (3, 3)], [(1, 2)]),
        ("\n", [(1, 1)], [(1, 1)]),
    ],
)
def test_blank_lines_alone_are_no_place(
    text: str, spans: list[tuple[int, int]], found: list[tuple[int, int]]
) -> None:
    assert not_blank(text.split("\n"), spans) == found


@pytest.mark.parametrize(
    ("message", "path", "named"),
    [
        ("Mend cart.py", "shop/cart.py", True), ("Mend shop.cart", "shop/cart.py", True),
        ("Mend cart", "shop/cart.py", True),
        ("Mend carts", "shop/cart.py", False), ("Mend the db", "db.py", False), ("Mend it", "shop/__init__.py", False),
    ],
)  # fmt: skip
def test_messages_that_give_a_file_away(message: str, path: str, named: bool) -> None:
    assert names_file(message, path) is named
