"""Test strength: small faults are put into a Python reference; the tests must fail on most of them.

Some faults have no effect. A fault in a function counts against the tests only if inputs made from the task's own
distinguish it from the reference (`told_apart`): both run in the jail as one answer, whose cases ask "do they differ?"
and expect no. A program has no such inputs, so more faults are needed. The tests are weak if they catch less than
`weak_below` of the faults, doubtful below `doubt_below`; if they catch all of the first few, no more are tried. A
reference with little to change gets versions that are always wrong, or wrong on about half the inputs.
"""

import ast
import random
import re
from collections.abc import Iterator, Sequence

from strop.tasks.inputs import more_inputs
from strop_tasks.curation.audit.record import AuditSettings, Finding, fatal, warning
from strop_verify.code.mutate.mutants import mutants
from strop_verify.code.python.source import defined
from strop_verify.core.checks import Case, CasesCheck
from strop_verify.core.ids import derive_seed
from strop_verify.core.task import Task
from strop_verify.core.verdict import Outcome, Verdict
from strop_verify.verification.strength import killed

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
    """(task, answer) that passes if no input distinguishes the version from the reference; None without inputs."""
    inputs = list(more_inputs(task))
    if not inputs:
        return None
    cases = [Case(args=[list(args), kwargs], expected=False) for args, kwargs in inputs]
    answer = _ANSWER.replace("NAME", repr(task.check.function))
    answer = answer.replace("REFERENCE", repr(task.reference)).replace("FAULTY", repr(faulty))
    return Task(statement="differs", check=CasesCheck(entry_point=_ENTRY, cases=cases)), answer


def told_apart(verdict: Verdict) -> bool:
    """Whether some input distinguished the two versions."""
    return any(t.outcome is Outcome.FAILED and t.message == "returned True" for t in verdict.tests)


FIRST = 6
"""Faults to try first; tests that catch half of all faults would catch all of these once in 64 times."""
FEWEST = 3  # minimum faults with a result for a meaningful share
_ENOUGH = 6  # faults below which wrong results are tried too
_FEWEST_UNPROVEN, _UNPROVEN = 5, 2 / 3
"""If missed faults may not matter: minimum for a fatal share, and the factor of `weak_below`."""
_INDENT = "    "
_STRICT = "strict=True"  # argument of `zip` without effect on valid input, so a fault there proves nothing


def faulty_versions(task: Task, settings: AuditSettings) -> list[str]:
    """Copies of the reference with one small fault each, in a random but reproducible order.

    Only Python. Raises UserError if tree-sitter is missing (extra `strength`).
    """
    if task.language != "python" or not settings.mutants:
        return []
    check, code = task.check, task.reference
    seed = derive_seed("mutants", task.id)
    if check.answer == "function":
        texts = _of_functions(code, check.functions(), seed, settings.mutants)
    elif check.answer == "module":
        texts = _of_functions(code, defined(code, ast.FunctionDef, ast.ClassDef), seed, settings.mutants)
    elif check.answer == "program":
        texts = _of_program(code, seed, settings.mutants)
    else:
        return []
    if check.answer == "function" and len(texts) < _ENOUGH:
        texts += _wrong_results(code, check.function)
    texts = [text for text in texts if text.count(_STRICT) == code.count(_STRICT)]
    random.Random(seed).shuffle(texts)
    return texts


def _of_functions(code: str, names: Sequence[str], seed: int, limit: int) -> list[str]:
    """Faults in code that these names reach; a test that names them is added temporarily."""
    suffix = "\n\ndef test_of_all():\n" + "".join(f"    {name}\n" for name in names or ["0"])
    made = mutants(code + suffix, "python", seed=seed, limit=limit)
    return [m.text.removesuffix(suffix) for m in made if m.text.endswith(suffix)]


def _of_program(code: str, seed: int, limit: int) -> list[str]:
    """Faults in a whole program, which is wrapped in a function while they are put in."""
    inside = "".join(_INDENT + line for line in code.splitlines(keepends=True))
    prefix, suffix = "def whole_program():\n", "\n\ndef test_of_all():\n    whole_program()\n"
    texts = []
    for mutant in mutants(prefix + inside + suffix, "python", seed=seed, limit=limit):
        text = mutant.text.removeprefix(prefix).removesuffix(suffix)
        texts.append("".join(line.removeprefix(_INDENT) for line in text.splitlines(keepends=True)))
    return [text for text in texts if text != code]


def _wrong_results(code: str, name: str) -> list[str]:
    """The program with its entry point made wrong: always, or on inputs whose text has even length, or odd length."""
    if not re.search(rf"^def {re.escape(name)}\b", code, re.MULTILINE):
        return []
    wrong = code + _WRONG.replace("NAME", name)
    return [wrong.replace("WHEN", when) for when in ("True", "len(text) % 2 == 0", "len(text) % 2")]


_WRONG = """


def _strop_wrong(function):
    inside = []
    def outermost(*args, **kwargs):
        if inside:
            return function(*args, **kwargs)
        text = repr((args, kwargs))
        inside.append(1)
        try:
            found = function(*args, **kwargs)
        finally:
            inside.pop()
        return _strop_other(found) if WHEN else found
    return outermost


def _strop_other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, (list, tuple)):
        return value + type(value)([value[-1] if value else 0])
    if isinstance(value, dict):
        return {**value, "x": 0}
    return 0 if value is None else None


NAME = _strop_wrong(NAME)
"""


def all_noticed(verdicts: list[Verdict]) -> bool:
    """Whether the tests caught every fault with a result, and there were enough."""
    told = [dead for dead in map(killed, verdicts) if dead is not None]
    return len(told) >= FEWEST and all(told)


def strength_findings(
    noticed: int, missed: Sequence[str], settings: AuditSettings, *, proven: bool
) -> Iterator[Finding]:
    """`weak-tests`, from the faults that the tests notice and those they miss; `proven`: missed ones change results."""
    total, answer = noticed + len(missed), missed[0] if missed and proven else None
    if total < FEWEST or not missed:
        return
    text = f"the tests notice {noticed} of {total} faults put into the reference"
    least = settings.weak_below * (1 if proven else _UNPROVEN) * total
    if noticed < least and (proven or total >= _FEWEST_UNPROVEN):
        yield fatal("weak-tests", text, answer)
    elif noticed < settings.doubt_below * total:
        yield warning("weak-tests", text, answer)
