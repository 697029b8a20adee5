"""Cheats against environment packages of verifiers (Prime Intellect): finds tasks that reward them.

The package's code runs in Strop's jail, and its own rewards score each reply in a separate process. There is no
network, so a task whose rewards call a model or another server is not judged.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from strop_verify.attacks.cheats import Cheat, PaidTask
from strop_verify.attacks.known import jailed
from strop_verify.core.errors import UserError

_SECONDS = 30.0
"""Wall seconds for one reply."""
_AT_A_TIME = 8
"""Number of tasks per load of a package."""
_WALL = 3600.0


def attacked(
    package: str,
    cheats: Sequence[Cheat],
    *,
    limit: int | None = None,
    place: Path | None = None,
    jail: str = "auto",
) -> Iterator[PaidTask]:
    """One row for each of the first `limit` tasks, in order.

    `package`: the name of its module, or its folder. `place`: the site-packages with verifiers, of another environment;
    None: of this one. Raises UserError for a package that cannot be loaded in the jail or tested.
    """
    name, places = _found(package, place)
    texts = {cheat.name: cheat.text for cheat in cheats}
    start, left = 0, True
    while left and (limit is None or start < limit):
        count = min(_AT_A_TIME, limit - start if limit else _AT_A_TIME)
        asked = {"package": name, "cheats": texts, "start": start, "count": count, "seconds": _SECONDS}
        replies = jailed("environment_calls.py", [asked], places, _WALL, jail)
        if not replies or "left" not in replies[-1]:
            refused = replies[-1].get("refused") if replies else None
            cause = refused or "its process ended before all replies were scored"
            raise UserError(f"--verifiers {package}: {cause}{_remedy(cause)}")
        yield from map(_row, replies[:-1])
        left, start = replies[-1]["left"], start + count


def _found(package: str, place: Path | None) -> tuple[str, list[str]]:
    """The module's name, and the folders to import from."""
    folder, places = Path(package), [str(place.resolve())] if place else []
    if not folder.is_dir():
        spec = None if place else find_spec(package.replace("-", "_").rpartition("/")[2].partition(".")[0])
        if spec and spec.origin:
            file = Path(spec.origin).resolve()
            top = file.parents[1] if file.name == "__init__.py" else file.parent
            if not top.is_relative_to(sys.prefix):  # an editable installation
                places.append(str(top))
        return package, places
    name = folder.resolve().name.replace("-", "_")
    for top in (folder, folder / "src"):
        if (top / f"{name}.py").is_file() or (top / name / "__init__.py").is_file():
            return name, [str(top.resolve()), *places]
    raise UserError(
        f"--verifiers {package}: the folder holds neither {name}.py nor {name}/__init__.py, nor does its src"
    )


def _remedy(cause: str) -> str:
    if "No module named" not in cause:
        return ""
    return "; install it into this environment, or name the site-packages of another by --grader-at"


def _row(reply: Mapping[str, Any]) -> PaidTask:
    notes, rewards, solution = reply["notes"], reply["rewards"], reply["solution"]
    row = PaidTask(reply["task"], solution, "", rewards, notes)
    if set(notes) >= set(rewards) and (solution is None or "solution" in notes):
        row.not_judged = next(iter(notes.values()))
    elif solution is not None and solution <= 0:
        row.failed = "the answer in its data gets no reward"
    return row
