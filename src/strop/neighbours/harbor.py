"""Strop's jail as an environment of Harbor (harborframework.com): no Docker, no account.

    harbor run -p TASKS -a oracle --env strop.neighbours.harbor:JailEnvironment -n 2 -o RESULTS -y

`strop_verify.sandbox.dockerfile` lists what a Dockerfile may use; a task that needs more is refused before it starts.
Deviations from a container: there is one user, whichever is requested; a command's processes end with it, so a server
that an agent leaves running is gone when the tests run; and there is no network, even if a task allows it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities

from strop_verify.core.errors import NotStarted, SandboxError, UserError
from strop_verify.sandbox.dockerfile import ImagePlan, base_image, image_plan
from strop_verify.sandbox.furnish import furnish
from strop_verify.sandbox.image import open_image, stored
from strop_verify.sandbox.machine import LIMITS, Machine

_MIB = 1 << 20
_VERIFIER = "__verifier__"
"""Part of the name of a session in which only tests run; these may call Strop."""
_LONGEST = 24 * 3600.0
"""Seconds that a command without its own limit may take; Harbor ends it with its phase."""


class JailEnvironment(BaseEnvironment):
    """One task's box. Options (`--ek NAME=VALUE`): `jail`, one that `strop doctor` lists; `images`, a folder of images
    (`strop_verify.sandbox.image`), from which each task takes its own.
    """

    _box: Machine | None = None

    def __init__(self, *args: Any, jail: str = "auto", images: str = "", **kwargs: Any) -> None:
        self._jail, self._images = jail, images
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        """The name of this environment in Harbor."""
        return "strop-jail"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """The network is off; no other capability of containers is offered."""
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        """Memory is limited; processors are not."""
        return EnvironmentResourceCapabilities(memory_limit=True)

    def _validate_definition(self) -> None:
        """Does nothing: an error here would end the whole job, while one in `start` only refuses the task."""

    def _planned(self) -> ImagePlan:
        dockerfile = self.environment_dir / "Dockerfile"
        if (self.environment_dir / "docker-compose.yaml").exists():
            raise UserError(
                f"{self.environment_name}: docker-compose.yaml needs containers; run it with Docker"
            )
        text = dockerfile.read_bytes().decode(errors="surrogateescape") if dockerfile.is_file() else ""
        named = self.task_env_config.docker_image or ""
        if self._images:
            source = stored(self._images, named or base_image(text))
            return image_plan("" if named else text, source)
        return image_plan(text, named)

    async def start(self, force_build: bool) -> None:
        """Makes the box.

        Raises UserError if the task needs more than the box offers or its Dockerfile fails, SandboxError without a
        jail.
        """
        self._box = await asyncio.to_thread(self._made)

    def _made(self) -> Machine:
        plan = self._planned()
        config, limits = self.task_env_config, replace(LIMITS, wall_seconds=_LONGEST)
        room = (config.storage_mb or 1024) * _MIB
        if config.memory_mb:
            limits = replace(limits, tree_bytes=config.memory_mb * _MIB + room)
        if self._network_is_public:
            self.logger.warning("the task allows the network; Strop's jail has none")
        box = Machine(
            workdir=config.workdir or plan.workdir or "/app",
            environment={**plan.environment, **self._startup_env()},
            limits=replace(limits, dir_bytes=room),
            jail=self._jail,
            grades=_VERIFIER in self.session_id,
            image=open_image(plan.source) if plan.source else None,
        )
        context = {
            path.relative_to(self.environment_dir).as_posix(): path
            for path in sorted(self.environment_dir.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        programs = [name for name, path in context.items() if path.stat().st_mode & 0o100]
        files = {name: path.read_bytes() for name, path in context.items()} if plan.steps else {}
        try:
            furnish(box, plan, files, programs)
            box.protect()
        except BaseException:
            box.close()
            raise
        return box

    async def stop(self, delete: bool) -> None:
        """Ends the box's processes and deletes it."""
        if self._box is not None:
            await asyncio.to_thread(self._box.close)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Runs a command. Raises RuntimeError if it takes too long, SandboxError if the jail fails."""
        variables = self._merge_env(env)
        try:
            done = await asyncio.to_thread(
                self._opened.shell, command, cwd=cwd, environment=variables, seconds=timeout_sec
            )
        except NotStarted as error:  # the box is full, or a name is too long
            return ExecResult(stdout="", stderr=f"{error}\n", return_code=126)
        if done.expired == "wall" and timeout_sec:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
        return ExecResult(
            stdout=done.stdout.decode(errors="replace"),
            stderr=done.stderr.decode(errors="replace"),
            return_code=done.status,
        )

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Uploads a file. Raises ValueError for a path that cannot be written."""
        await asyncio.to_thread(self._put, {target_path: Path(source_path)})

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Uploads a folder. Raises ValueError for a path that cannot be written."""
        source = Path(source_dir)
        files = {
            f"{target_dir}/{path.relative_to(source).as_posix()}": path
            for path in sorted(source.rglob("*"))
            if path.is_file()
        }
        await asyncio.to_thread(self._put, files)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Downloads a regular file, following no links. Raises FileNotFoundError; ValueError for anything else."""
        await asyncio.to_thread(self._get, source_path, Path(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Downloads the regular files of a folder."""
        target = Path(target_dir)
        target.mkdir(parents=True, exist_ok=True)
        for name in await asyncio.to_thread(self._opened.files, source_dir):
            await asyncio.to_thread(self._get, f"{source_dir}/{name}", target / name)

    @property
    def _opened(self) -> Machine:
        if self._box is None:
            raise SandboxError("the environment was not started")
        return self._box

    def _put(self, files: Mapping[str, Path]) -> None:
        programs = [name for name, path in files.items() if path.stat().st_mode & 0o100]
        data = {name: path.read_bytes() for name, path in files.items()}
        self._opened.put(data, executable=programs)

    def _get(self, source: str, target: Path) -> None:
        data = self._opened.read(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
