import json
import os
import re
import subprocess
import sys

import pytest
from tests.scale import some

from strop import __version__
from strop.cli import Commands, tell
from strop_verify.core.errors import ConfigError, SandboxError, UserError

HEAVY = ("torch", "transformers", "trl", "vllm", "pydantic", "omegaconf", "numpy", "rich", "datasets", "yaml")


def test_help_names_every_command(strop):
    done = strop("--help")
    assert done.returncode == 0 and done.stderr == ""
    for name in ("eval", "verify", "attack", "repair", "tasks", "doctor"):
        assert f"\n  {name} " in done.stdout
    alone = strop()
    assert "Usage: strop" in alone.stdout + alone.stderr


@pytest.mark.parametrize("name", ["", *some(Commands(name="strop").list_commands(None), 8)])
def test_help_loads_nothing_heavy(name):
    heavy = set(HEAVY) - (
        {"pydantic"} if name else set()
    )  # typer coerces a command's arguments with pydantic
    code = (
        "import sys\nfrom strop.cli import main\n"
        f"sys.argv = ['strop', *'{name}'.split(), '--help']\n"
        "try:\n    main()\n"
        f"finally:\n    print('loaded:', sorted({heavy!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.endswith("loaded: []\n"), done.stdout + done.stderr
    assert f"Usage: strop {name}".rstrip() in done.stdout


def cpu_seconds(*command, code=0):
    before = os.times()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    assert done.returncode == code
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def test_help_is_fast():
    """Beside what its own library for command lines costs, so that it holds on any machine."""
    ours = min(cpu_seconds(sys.executable, "-m", "strop.cli", "--help") for _ in range(3))
    base = min(cpu_seconds(sys.executable, "-c", "import typer") for _ in range(3))
    assert ours < 5 * base + 0.05, (ours, base)
    assert ours < 0.4


def test_a_bad_key_is_told_at_once():
    words = (sys.executable, "-m", "strop.cli", "train", "demo", "optim.stepz=3")
    assert min(cpu_seconds(*words, code=2) for _ in range(3)) < 1.0


def test_version(strop):
    assert strop("--version").stdout == f"strop {__version__}\n"


@pytest.mark.parametrize("arguments", [("nope",), ("--nope",), ("doctor", "--nope"), ("verify", "one")])
def test_wrong_usage_exits_with_2_and_no_traceback(strop, arguments):
    done = strop(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr and "Error:" in done.stderr and done.stdout == ""


def test_errors_are_lines_with_the_code_that_fits(capsys):
    assert tell(UserError("no such file: \x1b[2Jx\nand more")) == 2
    assert tell(ConfigError(["a.yaml:1: first", "a.yaml:2: second"])) == 2
    assert tell(SandboxError("no jail")) == 1
    assert capsys.readouterr().err == (
        "error: no such file: \\x1b[2Jx and more\nerror: a.yaml:1: first\nerror: a.yaml:2: second\nerror: no jail\n"
    )


def test_a_users_error_in_a_command_has_no_traceback(strop):
    done = strop("tasks", "list", "jsonl:missing.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no such file: missing.jsonl\n"


def test_closed_pipe_is_quiet(start):
    process = start("tasks", "list")
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(300) in (0, 141)


@pytest.mark.parametrize(("sent", "code", "said"), [("SIGINT", 130, "interrupted\n"), ("SIGTERM", 143, "")])
def test_a_signal_that_comes_while_an_object_is_freed_is_not_lost(sent, code, said):
    program = f"""if True:
        import os, signal, sys, time
        from strop.cli import doctor, main
        class Freed:
            def __del__(self):
                os.kill(os.getpid(), signal.{sent})
                time.sleep(0.1)
        def endless():
            Freed()
            time.sleep(600)
        doctor.doctor = endless
        sys.argv = ["strop", "doctor"]
        main()
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (code, said)


def test_doctor_for_programs(strop):
    from strop_verify.sandbox import jail_names, probe

    done = strop("doctor", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == (0 if probe().safe else 1) and said["safe"] is probe().safe
    assert {name: row["active"] for name, row in said["layers"].items()} == {
        layer.name: layer.active for layer in probe().layers
    }
    assert said["jails"] == list(jail_names()) and said["packages"]["torch"]
    assert said.keys() > {"images", "toolchains", "packages", "hardware", "models"}
    works = "namespaces" in jail_names() and probe().layer("landlock").active
    assert said["images"]["as a root"].startswith("works: " if works else "no: ")


def test_doctor_reports_the_jail(strop):
    from strop_verify.sandbox import jail_names, probe

    done = strop("doctor")
    assert done.returncode == (0 if probe().safe else 1)
    for layer in probe().layers:
        assert re.search(rf"│ {layer.name} +│ {'on ' if layer.active else 'OFF'} │", done.stdout), layer
    assert f"available here (sandbox.jail): {', '.join(jail_names())}; auto is " in done.stdout
    for section in ("images", "toolchains", "packages", "hardware", "models"):
        assert f"\n{section}\n" in done.stdout
    assert "\x1b" not in done.stdout
