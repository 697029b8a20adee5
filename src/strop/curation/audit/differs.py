"""Does a faulty version make a difference to anybody? Both are run on inputs made from the task's own.

A fault that the tests did not notice counts against them only when some such input, on which the reference gives a
result, tells the two apart. It runs as an answer in the jail: its cases ask "do they differ?" and expect no.
"""

from strop.core.checks import Case, CasesCheck
from strop.core.task import Task
from strop.core.verdict import Outcome, Verdict
from strop.tasks.inputs import more_inputs

_ENTRY = "strop_differs"
_ANSWER = """import copy


def _load(code):
    space = {"__name__": "solution"}
    exec(compile(code, "<version>", "exec"), space)
    found = space.get(NAME)
    return found if found is not None else getattr(space["Solution"](), NAME)


_sound, _faulty = _load(REFERENCE), _load(FAULTY)


def strop_differs(args, kwargs):
    given, same = (args, kwargs), copy.deepcopy((args, kwargs))
    try:
        wanted = (_sound(*given[0], **given[1]), given)
    except Exception:
        return False
    try:
        found = (_faulty(*same[0], **same[1]), same)
    except Exception:
        return True
    return not (wanted == found or repr(wanted) == repr(found))
"""


def question(task: Task, faulty: str) -> tuple[Task, str] | None:
    """(task, answer) that passes when no input tells the version from the reference; None when no input is known."""
    inputs = list(more_inputs(task))
    if not inputs:
        return None
    cases = [Case(args=[list(args), kwargs], expected=False) for args, kwargs in inputs]
    answer = _ANSWER.replace("NAME", repr(task.check.function))
    answer = answer.replace("REFERENCE", repr(task.reference)).replace("FAULTY", repr(faulty))
    return Task(statement="differs", check=CasesCheck(entry_point=_ENTRY, cases=cases)), answer


def told_apart(verdict: Verdict) -> bool:
    """Whether some input did."""
    return any(t.outcome is Outcome.FAILED and t.message == "returned True" for t in verdict.tests)
