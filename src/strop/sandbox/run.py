"""`run_command`: one program in its own box."""

from collections.abc import Mapping, Sequence

from strop.sandbox.box import open_box
from strop.sandbox.limits import Limits
from strop.sandbox.result import CommandResult, Profile


def run_command(
    argv: Sequence[str],
    *,
    files: Mapping[str, bytes | str] | None = None,
    stdin: bytes = b"",
    limits: Limits | None = None,
    profile: Profile = "run",
    read: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    jail: str = "auto",
    allow_unsafe: bool = False,
) -> CommandResult:
    """Runs `argv` in a fresh work directory that holds `files`; see `strop.sandbox.box.Work.run`.

    Raises SandboxError when the jail cannot be built or the program cannot be started, ValueError for a file name that
    leaves the work directory.
    """
    with open_box(jail=jail, allow_unsafe=allow_unsafe, read=read) as box, box.work(files) as work:
        return work.run(argv, stdin=stdin, limits=limits, profile=profile, read=read, environment=environment)
