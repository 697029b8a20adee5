"""What `strop launch` plans and writes, without starting it."""

import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests import needs
from tests.warm import strop

from strop.config.launch import SiteConfig, read_site
from strop.launch import local, plan, slurm
from strop_verify.core.errors import ConfigError, UserError

HOSTILE = "x y'$(touch hacked)\"`touch hacked`;touch hacked;%j #&|>hacked"


def planned(folder: Path, *words: str, **site: object) -> plan.Plan:
    return plan.plan_of(["demo"], [f"run.dir={folder}/run", *words], SiteConfig.model_validate(site))


def shell(text: str) -> None:
    """bash, and shellcheck where it is there, have nothing against a script."""
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", "-"], input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stdout
    else:
        needs.go_without("slurm", "shellcheck is not installed")


def test_the_template_is_short() -> None:
    assert len((Path(slurm.__file__).parent / slurm.TEMPLATE).read_text().splitlines()) <= 120


@pytest.mark.parametrize(
    ("size", "gpus", "tasks", "parts"),
    [("small", 1, 1, {"trainer": 1}), ("medium", 2, 2, {"sampler-1": 1, "trainer": 1}),
     ("large", 8, 5, {"sampler-1": 4, "trainer": 4})],
)  # fmt: skip
def test_sizes_are_those_published(
    size: str, gpus: int, tasks: int, parts: dict[str, int], tmp_path: Path
) -> None:
    found = planned(tmp_path, size=size)
    assert [(one.nodes, one.tasks, one.gpus) for one in found.groups] == [(1, tasks, gpus)]
    assert {part.name: part.gpus for part in found.parts} == parts
    assert (found.recipe.launch.engine == "zero3") == (size == "large")
    text = slurm.script(found)
    assert f"#SBATCH --gres=gpu:{gpus}\n" in text
    shell(text)


def test_parts_that_do_not_fit_a_node_get_another(tmp_path: Path) -> None:
    found = planned(tmp_path, size="large", gpus_per_node=4)
    assert [(one.nodes, one.gpus) for one in found.groups] == [(2, 4)]
    assert [(part.name, part.first) for part in found.parts] == [("sampler-1", 1), ("trainer", 0)]
    with pytest.raises(UserError, match=r"launch\.processes=4 does not fit a node of 2 GPUs"):
        planned(tmp_path, size="large", gpus_per_node=2)


def test_servers_get_a_key_that_only_its_owner_reads(tmp_path: Path) -> None:
    found = planned(tmp_path, size="medium")
    plan.prepare(found, overwrite=False, say=print)
    key = found.folder / plan.KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600 and len(key.read_text().strip()) >= 32
    text = slurm.script(found) + (found.folder / "recipe.yaml").read_text()
    assert key.read_text().strip() not in text and f"STROP_SAMPLER_KEY_FILE={key}\n" in text


def test_hostile_words_are_words(tmp_path: Path) -> None:
    """A shell that has read the script knows the paths as they are, and has run nothing."""
    site = {
        "partition": HOSTILE, "modules": [HOSTILE], "sbatch": [f"--comment={HOSTILE}"],
        "container": HOSTILE, "binds": [HOSTILE],
    }  # fmt: skip
    found = planned(tmp_path / HOSTILE, **site)
    text = slurm.script(found)
    head = text[: text.index("say()")].replace("module load", "printf '%s\\n'")
    done = subprocess.run(
        ["bash", "-c", head + 'printf "%s\\n" "$run" "${python[@]}"'],
        cwd=tmp_path,
        text=True,
        capture_output=True,
    )
    assert done.stderr == "" and done.stdout.splitlines()[:2] == [HOSTILE, str(found.run)]
    assert done.stdout.splitlines().count(HOSTILE) == 2  # as a module, as a bind
    assert not list(tmp_path.rglob("hacked"))
    for field in site:
        with pytest.raises(ValueError, match="control character"):
            SiteConfig.model_validate({field: ["--a\nrm"] if isinstance(site[field], list) else "a\nrm"})
    with pytest.raises(UserError, match="control character"):
        planned(tmp_path / "a\nb")


def test_a_container_runs_every_part(tmp_path: Path) -> None:
    """Without GPUs it is not told of any."""
    image = tmp_path / "strop.sif"
    found = planned(tmp_path, container=str(image), binds=["/data:/data:ro"])
    assert found.python("/here/python") == [
        "apptainer", "exec", "--nv", "--bind", str(found.run), "--bind", "/data:/data:ro", str(image), "python3"
    ]  # fmt: skip
    assert "--nv" not in planned(tmp_path, "launch.device=cpu", container=str(image)).python("")
    with pytest.raises(UserError, match="cannot bind"):
        planned(tmp_path / "a:b", container=str(image))


def test_what_a_site_says_wrong_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("partitoin: main\ngpus_per_node: four\nsbatch: ['qos=long']\n")
    with pytest.raises(ConfigError) as caught:
        read_site(file)
    faults = "\n".join(sorted(caught.value.faults))
    assert faults.count("\n") == 1 and "'four'" in faults and "did you mean partition?" in faults
    file.write_text("sbatch: ['qos=long']\n")
    with pytest.raises(ConfigError, match="is not an sbatch option"):
        read_site(file)
    with pytest.raises(UserError, match="sizes are small, medium and large"):
        read_site(tmp_path / "smal")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["launch.servers=1"], "uses no server"),
        (["launch.minutes=1", "launch.stop_seconds=60"], "leave nothing of launch.minutes=1"),
    ],
)
def test_what_cannot_be_planned_is_refused(words: list[str], fault: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=fault):
        planned(tmp_path, *words)


def test_several_nodes_need_a_cluster(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="add --slurm"):
        local.refuse(planned(tmp_path, "launch.nodes=2"))


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = strop("launch", "demo", "--dry-run", f"run.dir={tmp_path}/run", "launch.nodes=2")
    assert done.returncode == 0 and "trainer" in done.stderr, done.stderr
    done = strop("launch", "demo", "--submit", f"run.dir={tmp_path}/run")
    assert done.returncode == 2 and "--slurm small" in done.stderr
    assert list(tmp_path.iterdir()) == []
