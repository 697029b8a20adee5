"""Jobs on rented machines: what is refused, and each file read by the program that it is for."""

import json
import os
import subprocess
import sys
import threading
from contextlib import chdir
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.neighbours.venvs import made
from tests.warm import strop

from strop.config.launch import SiteConfig
from strop.config.load import load_recipe
from strop.launch.plan import SIZES, plan_of
from strop.launch.rented import RentedJob, Renter, rented
from strop_verify.core.errors import UserError

WORDS = ["run.dir=/runs/it's $HOME", "run.name=a+b"]
BINDS = {"skypilot": ["s3://bucket:/runs", "s3://data:/data:ro"], "hf-jobs": ["hf://buckets/me/b:/runs"]}
SITE = {"size": "large", "gpu_type": "a100x8", "container": "ghcr.io/me/strop:1"}


def job(folder: Path, renter: Renter, *words: str, **site: Any) -> RentedJob:
    """Of a recipe in a folder, as started there."""
    (folder / "it's mine.yaml").write_text("seed: 7\nmodel: {name: $HOME}\n# '\n")
    recipes, given = ["demo", "it's mine.yaml"], [*WORDS, *words]
    config = SiteConfig.model_validate({**SITE, "binds": BINDS[renter], **site})
    with chdir(folder):
        return rented(renter, recipes, given, plan_of(recipes, given, config))


def recipe_in(script: str, folder: Path) -> Any:
    """The recipe that a machine's script hands to `strop launch`."""
    folder.mkdir()
    (folder / "strop").write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
    (folder / "strop").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env={"PATH": path}, capture_output=True, text=True, check=True
    )
    launch, *words = done.stdout.split("\0")[:-1]
    assert launch == "launch"
    with chdir(folder):
        return load_recipe([one for one in words if "=" not in one], [one for one in words if "=" in one])


def wanted(*words: str) -> Any:
    large = [*SIZES["large"], *WORDS, "seed=7", "model.name=$HOME", *words]
    return load_recipe(["demo"], large)


def test_a_task_of_skypilot(tmp_path: Path) -> None:
    made_for = job(tmp_path, "skypilot")
    assert made_for.file.name == "a-b.sky.yaml" and made_for.command == "sky launch a-b.sky.yaml"
    task = yaml.safe_load(made_for.text)
    assert task["resources"] == {
        "image_id": "docker:ghcr.io/me/strop:1",
        "cpus": "80+",
        "memory": "313+",
        "accelerators": "a100x8:8",
    }
    assert task["file_mounts"] == {
        "/runs": {"source": "s3://bucket", "mode": "MOUNT"},
        "/data": {"source": "s3://data", "mode": "COPY"},
    }
    assert recipe_in(task["run"], tmp_path / "there") == wanted()
    cpu = yaml.safe_load(job(tmp_path, "skypilot", "launch.device=cpu", size="small", gpu_type=None).text)
    assert "accelerators" not in cpu["resources"]


class Hub(ThreadingHTTPServer):
    """Answers as the Hub does to a new job, and keeps it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubRequest)
        self.jobs: list[Any] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class HubRequest(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        self._answer({"name": "me", "type": "user"})

    def do_POST(self) -> None:
        spec = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.jobs.append(spec)
        owner = {"id": "1", "name": "me", "type": "user"}
        self._answer({"id": "1", "owner": owner, "status": {"stage": "RUNNING", "message": None}, **spec})

    def _answer(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_script_for_hugging_face_jobs_asks_for_that_job(tmp_path: Path) -> None:
    text = job(tmp_path, "hf-jobs", "launch.minutes=60").text
    hub = Hub()
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HF_HOME": str(tmp_path),
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}",
        "HF_TOKEN": "hf_none",
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    text = text.replace("jobs run", "jobs run --detach")
    done = subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    hub.shutdown()
    assert done.returncode == 0, done.stderr
    (spec,) = hub.jobs
    assert (spec["dockerImage"], spec["flavor"], spec["timeoutSeconds"]) == (
        SITE["container"],
        "a100x8",
        3600,
    )
    assert [(v["type"], v["source"], v["mountPath"]) for v in spec["volumes"]] == [
        ("bucket", "me/b", "/runs")
    ]
    bash, option, script = spec["command"]
    assert (bash, option) == ("bash", "-c")
    timer = "(sleep 3300; touch '/runs/it'\"'\"'s $HOME/stop') &"
    assert timer in script
    found = recipe_in(script.replace("sleep 3300; touch", "true"), tmp_path / "there")
    assert found == wanted("launch.minutes=60")


def test_what_a_rented_machine_lacks_is_refused(tmp_path: Path) -> None:
    for text, words, site in (
        ("partition in SITE.yaml is a SLURM setting", [], {"partition": "gpu"}),
        ("needs several nodes", ["launch.nodes=2"], {}),
        ("name it with --container", [], {"container": None}),
        ("needs 8 GPUs; say which", [], {"gpu_type": None}),
        ("run.dir=/runs/it's $HOME is lost with the machine", [], {"binds": []}),
        ("is lost with the machine", [], {"binds": ["s3://b:/runs:ro"]}),
        ("is lost with the machine", [], {"binds": ["/here:/runs"]}),
        ("'s3://b' has no path inside", [], {"binds": ["s3://b"]}),
    ):
        with pytest.raises(UserError) as caught:
            job(tmp_path, "skypilot", *words, **site)
        assert text in str(caught.value)
    done = strop("launch", "demo", "--slurm", "small", "--skypilot", "small", cwd=tmp_path)
    assert done.returncode == 2 and "one of --slurm, --skypilot, --hf-jobs" in done.stderr
    with chdir(tmp_path), pytest.raises(UserError, match="run this command in its folder"):
        (tmp_path / "below").mkdir()
        (tmp_path / "below/own.yaml").write_text("seed: 1\n")
        config = SiteConfig.model_validate({**SITE, "binds": BINDS["skypilot"]})
        rented("skypilot", ["below/own.yaml"], WORDS, plan_of(["below/own.yaml"], WORDS, config))
    (tmp_path / "site.yaml").write_text("binds: ['s3://b:/runs']\ncontainer: me/strop\n")
    words = ["launch", "demo", "launch.device=cpu", "run.dir=/runs/demo", "--skypilot", "site.yaml"]
    done = strop(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sky launch demo.sky.yaml" in done.stderr and (tmp_path / "demo.sky.yaml").is_file()


SKY = """
import sys
import sky
from sky.utils import dag_utils

dag = dag_utils.load_chain_dag_from_yaml(sys.argv[1])
(task,) = dag.tasks
task.validate()
(wants,) = task.resources
print(wants.accelerators, wants.cpus, wants.memory, wants.image_id)
print(sorted((place, store.source, store.mode.value) for place, store in task.storage_mounts.items()), task.file_mounts)
"""


@pytest.mark.soak(90)
def test_skypilot_reads_its_task(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = made("skypilot", "skypilot==0.14.1", folder=tmp_path_factory.getbasetemp())
    catalog = tmp_path / ".sky/catalogs/v8/common/accelerators.csv"  # it would be downloaded
    catalog.parent.mkdir(parents=True)
    catalog.write_text("AcceleratorName,Clouds\nA100,aws\n")
    (tmp_path / "run.sky.yaml").write_text(job(tmp_path, "skypilot", gpu_type="A100").text)
    done = subprocess.run(
        [place / "bin/python", "-c", SKY, "run.sky.yaml"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "{'A100': 8} 80+ 313+" in done.stdout and "docker:ghcr.io/me/strop:1" in done.stdout
    assert "('/runs', 's3://bucket', 'MOUNT')" in done.stdout
