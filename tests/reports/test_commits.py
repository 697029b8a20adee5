"""A run's data in a git repository: real git, real kills, remotes that go away and come back."""

import contextlib
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.waiting import wait_until

from strop.reports.sinks.data_repository import DataCommits, DataRepository, check_remote, local_path
from strop_verify.core.errors import UserError
from strop_verify.sandbox.git import Git, GitError

ENDLESS = 120.0


def git(*words: object, **more: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null"]
    done = subprocess.run(
        ["git", *identity, *map(str, words)],
        env={**clean, **more},
        capture_output=True,
        text=True,
        timeout=ENDLESS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tree(repository: Path, branch: str = "run") -> list[str]:
    return git(f"--git-dir={repository}", "ls-tree", "-r", "--name-only", branch).splitlines()


def subjects(repository: Path, branch: str = "run") -> list[str]:
    return git(f"--git-dir={repository}", "log", "--format=%s", branch).splitlines()


def write_step(run: Path, step: int) -> None:
    (run / "rollouts").mkdir(exist_ok=True)
    (run / "rollouts" / f"step-{step:06d}.jsonl.zst").write_bytes(os.urandom(300))
    with (run / "metrics.jsonl").open("a") as file:
        file.write(f'{{"step": {step}}}\n')


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "run"
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text("seed: 1\n")
    for name in (
        "checkpoints/checkpoint-2/model.safetensors",
        "final/model.safetensors",
        "wandb/x",
        "mine.txt",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("not to be committed")
    (folder / ".metrics.jsonl.77.part").write_text("half")
    return folder


def commits(
    run: Path, remote: Path | str, said: list[str], *, every: int = 1, branch: str = "run"
) -> DataCommits:
    return DataCommits(run, remote=str(remote), branch=branch, every=every, run="run", say=said.append)


def test_the_data_and_nothing_else(run: Path, tmp_path: Path) -> None:
    remote, said = tmp_path / "deep" / "er" / "data.git", []
    with commits(run, remote, said, every=2) as sink:
        wait_until(lambda: (remote / "refs/heads/run").exists())
        for step in (1, 2, 3):
            write_step(run, step)
            sink.step(step, "reward 0.500")
            if step == 2:
                wait_until(lambda: "run: step 2, reward 0.500" in subjects(remote))
        (run / "rollouts" / ".step-000004.jsonl.zst.9.part").write_text("half")
        (run / "calls").mkdir()
        (run / "calls" / "length.jsonl").write_text("{}\n")
        (run / "summary.json").write_text("{}")
    assert said == []
    steps = [f"rollouts/step-{n:06d}.jsonl.zst" for n in (1, 2, 3)]
    assert tree(remote) == ["calls/length.jsonl", "metrics.jsonl", "recipe.yaml", *steps, "summary.json"]
    assert subjects(remote)[0] == "run: is over" and not any("step 3" in s for s in subjects(remote))
    assert set(git(f"--git-dir={remote}", "log", "--format=%an <%ae> %cn", "run").splitlines()) == {
        "Strop <strop@localhost> Strop"
    }
    git(f"--git-dir={remote}", "fsck", "--strict")


def test_nothing_of_the_users_is_read_or_touched(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository around the run folder, hooks that fail, signing, filters, an environment that points elsewhere."""
    outer = run.parents[1]
    git("init", "-q", outer)
    (outer / "code.py").write_text("x = 1\n")
    (outer / ".gitattributes").write_text("* filter=broken\n")
    git("-C", outer, "add", "code.py")
    git("-C", outer, "commit", "-qm", "mine")
    before = [path.read_bytes() for path in sorted((outer / ".git").rglob("*")) if path.is_file()]
    home = tmp_path / "home"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "commit-msg", "pre-push", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(
            # What the receiving side runs is its own affair.
            f"#!/bin/sh\ntest $PWD = {outer}/data.git && exit 0\ntouch {home}/hook-ran\nexit 1\n"
        )
        (hooks / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\nhooksPath={hooks}\nexcludesFile={home}/ignored\n[commit]\ngpgSign=true\n[user]\nname=Me\n"
        f'[push]\ngpgSign=true\n[filter "broken"]\nclean=false\nrequired=true\n[init]\ntemplateDir={home}/nowhere\n'
    )
    (home / "ignored").write_text("*.jsonl\n")
    (run / ".gitattributes").write_text("* filter=broken text eol=crlf\n")
    (run / ".gitignore").write_text("*\n!recipe.yaml\n")
    monkeypatch.setenv("HOME", str(home))
    for name, value in {
        "DIR": outer / ".git",
        "WORK_TREE": outer,
        "INDEX_FILE": outer / ".git/index",
    }.items():
        monkeypatch.setenv(f"GIT_{name}", str(value))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Me")
    monkeypatch.chdir(outer)
    write_step(run, 1)
    said: list[str] = []
    with commits(run, "data.git", said) as sink:
        sink.step(1)
    assert said == []
    after = [path.read_bytes() for path in sorted((outer / ".git").rglob("*")) if path.is_file()]
    assert before == after and not (home / "hook-ran").exists()
    assert "metrics.jsonl" in tree(outer / "data.git")
    assert git(f"--git-dir={outer}/data.git", "show", "run:metrics.jsonl") == '{"step": 1}'
    assert git(f"--git-dir={outer}/data.git", "log", "-1", "--format=%an", "run") == "Strop"
    assert ".data.git" not in git(
        "-C", outer, "status", "--porcelain", "--untracked-files=all", GIT_CONFIG_GLOBAL="/dev/null"
    )


def test_a_remote_that_goes_and_comes_back(run: Path, tmp_path: Path) -> None:
    remote, away, said = tmp_path / "data.git", tmp_path / "away.git", []
    with commits(run, remote, said) as sink:
        wait_until(lambda: (remote / "refs/heads/run").exists())
        remote.rename(away)
        for step in (1, 2, 3):
            write_step(run, step)
            sink.step(step)
            wait_until(lambda step=step: f"run: step {step}" in subjects(run / ".data.git"))
        wait_until(lambda: said)
        away.rename(remote)
        write_step(run, 4)
        sink.step(4)
        wait_until(lambda: len(said) == 2)
    assert len(said) == 2, said
    assert "data.git" in said[0] and "training continues" in said[0] and "again" in said[1]
    assert subjects(remote)[-4:] == ["run: step 3", "run: step 2", "run: step 1", "run: starts"]
    assert "rollouts/step-000004.jsonl.zst" in tree(remote)


def test_what_could_not_be_pushed_is_said_at_the_end(run: Path, tmp_path: Path) -> None:
    remote, said = tmp_path / "data.git", []
    with commits(run, remote, said):
        wait_until(lambda: (remote / "refs/heads/run").exists())
        remote.rename(tmp_path / "away.git")
        write_step(run, 1)
    assert len(said) == 1 and "push" in said[0]
    (tmp_path / "away.git").rename(remote)
    subprocess.run(said[0].rpartition(": ")[2].split(), check=True, capture_output=True, timeout=ENDLESS)
    assert "rollouts/step-000001.jsonl.zst" in tree(remote)


def test_steps_that_are_taken_back_are_removals(run: Path, tmp_path: Path) -> None:
    remote, said = tmp_path / "data.git", []
    for step in (1, 2, 3):
        write_step(run, step)
    with commits(run, remote, said):
        pass
    (run / "rollouts" / "step-000003.jsonl.zst").unlink()
    (run / "metrics.jsonl").write_text('{"step": 1}\n{"step": 2}\n')
    with commits(run, remote, said):
        pass
    assert said == [] and "rollouts/step-000003.jsonl.zst" not in tree(remote)
    changed = git(f"--git-dir={remote}", "show", "--name-status", "--format=", "run").split()
    assert changed == ["M", "metrics.jsonl", "D", "rollouts/step-000003.jsonl.zst"]


def test_a_run_made_anew_goes_on_where_the_branch_is(run: Path, tmp_path: Path) -> None:
    remote, said = tmp_path / "data.git", []
    write_step(run, 1)
    with commits(run, remote, said):
        pass
    subprocess.run(["rm", "-rf", str(run / ".data.git"), str(run / "rollouts")], check=True)
    (run / "recipe.yaml").write_text("seed: 2\n")
    with commits(run, remote, said):
        pass
    assert said == [] and git(f"--git-dir={remote}", "show", "run:recipe.yaml") == "seed: 2"
    assert len(subjects(remote)) >= 3 and not any("step-" in name for name in tree(remote))
    git(f"--git-dir={remote}", "fsck", "--strict")


def test_branches_of_others_are_left_alone(run: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    git("init", "-q", "-b", "main", plain)
    (plain / "code.py").write_text("x = 1\n")
    git("-C", plain, "add", "code.py")
    git("-C", plain, "commit", "-qm", "mine")
    git("-C", plain, "branch", "other")
    mine = git("-C", plain, "rev-parse", "main", "other")
    for branch in ("main", "other"):
        said: list[str] = []
        with commits(run, plain, said, branch=branch):
            wait_until(lambda said=said: said)
        assert f"branch {branch}" in said[0] and "choose another run.commit.branch" in said[0]
    assert git("-C", plain, "rev-parse", "main", "other") == mine
    said = []
    subprocess.run(["rm", "-rf", str(run / ".data.git")], check=True)
    with commits(run, plain, said):
        pass
    assert said == [] and "recipe.yaml" in tree(plain / ".git")
    assert sorted(p.name for p in plain.iterdir()) == [".git", "code.py"]


def test_two_writers_of_one_branch_are_told(run: Path, tmp_path: Path) -> None:
    remote, said = tmp_path / "data.git", []
    with commits(run, remote, said) as sink:
        wait_until(lambda: (remote / "refs/heads/run").exists())
        other = tmp_path / "other"
        other.mkdir()
        (other / "recipe.yaml").write_text("seed: 3\n")
        with commits(other, remote, []):
            pass
        theirs = git(f"--git-dir={remote}", "rev-parse", "run")
        write_step(run, 1)
        sink.step(1)
        wait_until(lambda: said)
    assert "another process writes to this branch" in said[0]
    assert git(f"--git-dir={remote}", "rev-parse", "run") == theirs


WRITER = """
import sys
from pathlib import Path
from strop.reports.sinks.data_repository import DataCommits
run, remote = Path(sys.argv[1]), sys.argv[2]
with DataCommits(run, remote=remote, branch="run", every=1, run="run", say=print) as sink:
    print("begun", flush=True)
    for step in range(1, 400):
        (run / "rollouts" / f"step-{step:06d}.jsonl.zst").write_bytes(b"x" * 50_000 + str(step).encode())
        sink.step(step)
"""


@pytest.mark.soak(11)
def test_killed_at_any_moment_and_taken_up_again(run: Path, tmp_path: Path) -> None:
    remote, rng = tmp_path / "data.git", random.Random()
    (run / "rollouts").mkdir()
    for _ in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(run), str(remote)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        time.sleep(rng.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    # The worst that a kill can leave: locks, and a torn index. What is still running is waited for first.
    with (run / ".data.git" / "strop-in-use").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    (run / ".data.git" / "index.lock").write_bytes(b"DIRC")
    (run / ".data.git" / "index").write_bytes(b"DIRC torn")
    (run / ".data.git" / "refs" / "heads" / "run.lock").write_text("")
    said: list[str] = []
    with commits(run, remote, said):
        pass
    assert [line for line in said if "again" not in line] == []
    assert tree(remote) == sorted(
        ["recipe.yaml", *(f"rollouts/{path.name}" for path in (run / "rollouts").iterdir())]
    )
    for path in (run / "rollouts").iterdir():
        stored = git(f"--git-dir={remote}", "rev-parse", f"run:rollouts/{path.name}")
        assert stored == git("hash-object", "--no-filters", path)
    git(f"--git-dir={remote}", "fsck", "--strict")


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A remote whose pushes wait until the file `go` is there."""
    remote = tmp_path / "stuck.git"
    git("init", "-q", "--bare", remote)
    hook = remote / "hooks" / "pre-receive"
    hook.write_text(
        f"#!/bin/sh\ntouch {tmp_path}/waiting\nwhile ! test -e {tmp_path}/go; do sleep 0.05; done\n"
    )
    hook.chmod(0o755)
    return remote


def test_training_does_not_wait_for_a_push(run: Path, tmp_path: Path, stuck: Path) -> None:
    said: list[str] = []
    with commits(run, stuck, said) as sink:
        wait_until((tmp_path / "waiting").exists)
        for step in range(1, 50):
            write_step(run, step)
            sink.step(step)
        assert not (stuck / "refs/heads/run").exists()  # all of that while the first push stood still
        (tmp_path / "go").touch()
    assert said == [] and len(tree(stuck)) == 51
    assert len(subjects(stuck)) <= 4, "what piled up is one commit"


def command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found.append(path.read_bytes().decode(errors="replace"))
    return found


def test_ctrl_c_ends_a_push_and_leaves_things_clean(run: Path, tmp_path: Path, stuck: Path) -> None:
    said: list[str] = []
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), commits(run, stuck, said):
        wait_until((tmp_path / "waiting").exists)
        raise KeyboardInterrupt
    assert time.monotonic() - started < ENDLESS and said == []
    assert not any(str(stuck) in line for line in command_lines()), "processes are left"
    assert list((run / ".data.git").rglob("*.lock")) == []
    (tmp_path / "go").touch()
    with commits(run, stuck, said):
        pass
    assert said == [] and "recipe.yaml" in tree(stuck)


def test_a_run_that_fails_is_committed_too(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError), commits(run, tmp_path / "data.git", []):
        wait_until(lambda: (tmp_path / "data.git/refs/heads/run").exists())
        write_step(run, 1)
        raise ValueError("too many errors")
    assert subjects(tmp_path / "data.git")[0] == "run: stops"


def test_remotes_that_cannot_work_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    with pytest.raises(UserError, match="is a file"):
        check_remote(str(tmp_path / "file"), "run")
    with pytest.raises(UserError, match="empty or a new folder"):
        check_remote(str(tmp_path / "full"), "run")
    with pytest.raises(UserError, match="not a valid branch name"):
        check_remote(str(tmp_path / "new"), "a..b")
    check_remote(str(tmp_path / "new"), "run")
    check_remote("git@example.invalid:data.git", "run")  # not asked now
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "full"]
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="install git"):
        check_remote(str(tmp_path / "new"), "run")


def test_an_unknown_host_is_one_line(run: Path) -> None:
    said: list[str] = []
    with commits(run, "https://user:secret@strop.invalid/data.git", said):
        wait_until(lambda: said)
    assert "strop.invalid" in said[0] and "secret" not in said[0] and "\n" not in said[0]


def test_local_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert local_path("data.git") == tmp_path / "data.git"
    assert local_path("/a/b:c") == Path("/a/b:c") and local_path("file:///a/b") == Path("/a/b")
    assert local_path("git@host:data.git") is None and local_path("https://host/x") is None


def test_nothing_new_is_no_commit(run: Path, tmp_path: Path) -> None:
    repository = DataRepository(run, remote=str(tmp_path / "data.git"), branch="run", run="run")
    assert repository.commit("one") and not repository.commit("two")
    write_step(run, 1)
    assert repository.commit("three") and subjects(run / ".data.git") == ["run: three", "run: one"]
    repository.close()


def test_a_command_has_a_deadline(tmp_path: Path) -> None:
    git("init", "-q", tmp_path / "r")
    with pytest.raises(GitError, match="longer than 1 s"):
        Git(own=True, folder=tmp_path / "r")("-c", "alias.wait=!sleep 600", "wait", seconds=1)
