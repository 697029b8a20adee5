"""PrimeVul: functions in C and C++ from security fixes, to be labelled with one of nine weaknesses, or `safe`.

Reference: Ding et al., "Vulnerability Detection with Code Language Models: How Far Are We?", arXiv:2403.18624. Columns:
`idx`, `project`, `commit_id`, `project_url`, `commit_url`, `commit_message`, `target` (1 vulnerable, 0 not), `func`,
`func_hash`, `file_name`, `file_hash`, `cwe` (a list), `cve`, `cve_desc`, `nvd_url`; further ones are kept.

1. CodeRepairRL asks for one of nine weaknesses and has no `safe`; here `target` 0 is `safe`, so that naming weaknesses
   blindly earns nothing.
2. The weakness is the first of the row's that is among the nine; rows without one are left out, on both sides, so that
   pairs stay whole.
3. A row is one task, of which nobody knows where the fix is. The paired files have both sides in neighbouring rows:
   `strop build edits primevul:FILE --family vulnerability` makes pairs of them, with the lines.
4. `metadata.pair` is the commit: all of its functions stay on one side of a split.
"""

from collections.abc import Iterator
from typing import Any

from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters.base import Adapter
from strop.tasks.adapters.fields import has, items, name_of, number, text
from strop.tasks.adapters.leftovers import plain
from strop.tasks.adapters.weaknesses import PRIMEVUL, known_label, single
from strop.tasks.rows import Row

_CPP = ("cc", "cpp", "cxx", "hpp", "hh")


def _read(row: Row, where: str) -> Iterator[Task]:
    code, target = text(row, "func", where), number(row, "target", where)
    if target not in (0, 1) or not code.strip():
        raise UserError(f"{where}: 'target' must be 0 or 1 and 'func' must not be empty")
    given = items(row, "cwe", where)
    cwe = next((label for value in given if (label := known_label(str(value), PRIMEVUL))), "")
    if not cwe:
        shown = ", ".join(map(str, given)) or "none"
        raise UserError(f"{where}: weakness {shown:.60}: none of {', '.join(PRIMEVUL)}")
    commit = f"primevul/{text(row, 'project', where)}@{text(row, 'commit_id', where)}"
    ending = str(row.get("file_name") or "").rpartition(".")[2].lower()
    yield single(
        f"primevul/{name_of(row.get('idx'), where)}",
        code,
        target == 1,
        cwe=cwe,
        language="c++" if ending in _CPP else "c",
        labels=PRIMEVUL,
        kept={"pair": commit, "original": {str(name): plain(value) for name, value in row.items()}},
    )


def _write(task: Task) -> dict[str, Any]:
    row = task.metadata.get("original")
    if task.family != "vulnerability" or not isinstance(row, dict):
        raise UserError(f"task {task.id!r} is not of PrimeVul: the format primevul cannot hold it")
    return dict(row)


def _fits(row: Row) -> bool:
    return has(row, project=str, commit_id=str, func=str, target=int) and "cwe" in row


ADAPTER = Adapter(
    name="primevul",
    about="PrimeVul: functions from security fixes, to be labelled",
    read=_read,
    fits=_fits,
    write=_write,
)
