"""`strop build env`: finds a project's environment by rules, builds it and runs the tests."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from strop.cli.options import AllowUnsafe, say
from strop_verify.core.errors import StropError, UserError, VerificationError
from strop_verify.core.text import printable

if TYPE_CHECKING:
    from strop.config.schema import Recipe
    from strop_tasks.curation.histories.environment import EnvironmentLock
    from strop_tasks.curation.histories.installation import ProjectInstall

Folder = Annotated[Path, Option("--output", "-o", help="folder for the result; created if missing")]


def env(
    repository: Annotated[
        str, Argument(help="git repository or bundle; or a lock or package list from an earlier run")
    ],
    output: Folder,
    rev: Annotated[str, Option(help="revision; default: HEAD")] = "",
    container: Annotated[Path | None, Option(help="also write a Containerfile to this file")] = None,
    with_agent: Annotated[
        str, Option(metavar="MODEL", help="model to ask when the rules fail, named as for strop eval")
    ] = "",
    allow_unsafe: AllowUnsafe = False,
) -> None:
    """Find out how a project is installed and tested, fetch its packages, and run its tests twice in the jail.

    Writes OUTPUT/NAME.lock.json. Packages are installed as wheels from the index of pip or uv, the only step that
    needs the network; no code of the project runs outside the jail. See docs/build.md.
    """
    from strop_tasks.curation.histories.environment import containerfile, rebuilt
    from strop_verify.core.files import atomic, check_writable, write_json, writing

    with writing(output):
        output.mkdir(parents=True, exist_ok=True)
    if container is not None:
        check_writable(container)
    if repository.endswith(".json"):
        name = rebuilt(Path(repository), output)
        print(printable(f"{output / name if name else 'no packages are needed'}"))
        return
    say(f"reading {repository}")
    lock = _lock(repository, rev, output, with_agent, allow_unsafe)
    path = output / f"{lock.repository}.lock.json"
    write_json(path, asdict(lock))
    if container is not None:
        with atomic(container) as file:
            file.write(containerfile(lock).encode())
    own = "no packages besides this Python's"
    packages = f"{len(lock.installed)} packages in {lock.packages}" if lock.packages else own
    odd = f", {len(lock.flaky)} are flaky, {len(lock.failing)} fail" if lock.flaky or lock.failing else ""
    tests = f"{len(lock.passing)} tests pass twice{odd}"
    print(printable(f"{lock.repository}@{lock.revision[:12]}: {tests}; {packages}; {path}"))


def _lock(source: str, rev: str, output: Path, agent: str, allow_unsafe: bool) -> "EnvironmentLock":
    import tempfile

    from strop_tasks.curation.edits.repository import Repository, gather
    from strop_tasks.curation.histories.environment import environment_of
    from strop_tasks.curation.histories.installation import installation_of
    from strop_verify.verification.settings import Settings

    with tempfile.TemporaryDirectory(prefix="strop-histories-") as folder:
        (history,) = gather([source], Path(folder) / "history.git")
        repository = Repository(Path(folder) / "history.git")
        commit = repository.resolve(rev or history.ref)
        if not commit:
            raise UserError(f"--rev {rev}: {source} has no such revision on its branch")
        try:
            tree, day = repository.files(commit), repository.date(commit)
        except (UserError, VerificationError) as error:
            why = str(error).rpartition("git cannot read it: ")[2].replace(folder, "")
            raise UserError(f"{source}: the tree of {commit[:12]} cannot be read: {why}") from None
    install = installation_of(tree)
    asked = ", ".join(install.requirements) or "nothing"
    say(f"{history.name}: {', '.join(install.found) or 'no file'} requires {asked}; running its tests twice")

    settings = Settings(allow_unsafe=allow_unsafe)

    def prove(found: "ProjectInstall") -> "EnvironmentLock":
        return environment_of(tree, found, history.name, commit, output, settings, day)

    try:
        return prove(install)
    except StropError as error:
        if not agent:
            raise
        from strop_tasks.curation.histories.agent import by_agent

        say(f"{error}; asking {agent}")
        return by_agent(_recipe(agent, allow_unsafe), tree, install, str(error), prove, say)


def _recipe(agent: str, allow_unsafe: bool) -> "Recipe":
    """The recipe that gives the model a workspace."""
    from strop.cli.models import check_there, read_models, recipes_of

    options = [
        "tasks.environment.type=workspace", "tasks.environment.turns=20", "play.max_turns=20", "play.max_tokens=null",
        "tasks.max_prompt_tokens=16000", "sampling.max_tokens=2000",
        *(["sandbox.allow_unsafe=true"] if allow_unsafe else []),
    ]  # fmt: skip
    recipes = recipes_of(read_models([agent], "transformers", None), options, [])
    check_there(recipes)
    return next(iter(recipes.values()))
