"""CodeContests and open-r1's Codeforces: contest problems, solved by programs that read stdin and print.

CodeContests (CC BY 4.0): data set deepmind/code_contests; Li et al. 2022, arXiv:2203.07814. Rows: name, description,
public_tests, private_tests, generated_tests (`{"input": [...], "output": [...]}` each), source, difficulty,
solutions and incorrect_solutions (`{"language": [...], "solution": [...]}`), cf_contest_id, cf_index, cf_points,
cf_rating, cf_tags, is_description_translated, untranslated_description, time_limit, memory_limit_bytes, input_file,
output_file.

1. The public tests are shown and come first (`metadata.base_tests`). The reference is the first solution in Python 3
   (language 3), up to four further ones are `metadata.references`; the other solutions are not kept.
2. Output is compared as text. Many problems accept several outputs; the set does not say which.

Codeforces (CC BY 4.0): data set open-r1/codeforces. Rows: id, contest_id, contest_start, index, title, description,
input_format, output_format, interaction_format, note, examples, rating, tags, official_tests,
official_tests_complete, input_mode (`stdio` or `file`), generated_checker, executable, time_limit, memory_limit and
more.

3. `official_tests` decide; those that are also examples are shown. The set has no solutions.
4. `generated_checker` is a Python program that is called with three files (input, expected output, output) and prints
   its score; only a score of 1 passes: `as_checker`.
5. Left out, with one line each: problems that are interactive, read a file, have no official tests, or have a checker
   that is not Python.
"""

from collections.abc import Iterator, Mapping

from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row
from strop_tasks.formats.fields import date_of, has, items, mapping, text
from strop_verify.code.python.source import UNPARSABLE, tree_of
from strop_verify.core.checks import StdioCase, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

_PYTHON3 = 3
_REFERENCES = 5
_TESTS = ("public_tests", "private_tests", "generated_tests")


def _pairs(row: Row, name: str, where: str) -> list[tuple[str, str]]:
    """The (input, output) pairs of a field with two lists. Raises UserError."""
    found = mapping(row, name, where, default={})
    given, wanted = (list(found.get(key) or ()) for key in ("input", "output"))
    if len(given) != len(wanted) or not all(isinstance(t, str) for t in given + wanted):
        raise UserError(f"{where}: field {name!r} must hold as many inputs as outputs, all of them strings")
    return list(zip(given, wanted, strict=True))


def _read_contests(row: Row, where: str) -> Iterator[Task]:
    name, statement = text(row, "name", where), text(row, "description", where)
    for field in ("input_file", "output_file"):
        if text(row, field, where, default="").strip():
            raise UserError(f"{where}: the program reads or writes a file ({field}): left out")
    tests = {field: _pairs(row, field, where) for field in _TESTS}
    if not any(tests.values()):
        raise UserError(f"{where}: the task has no tests: {', '.join(_TESTS)} are empty")
    solved = mapping(row, "solutions", where, default={})
    codes = zip(solved.get("language") or (), solved.get("solution") or (), strict=False)
    answers = [code for language, code in codes if language == _PYTHON3 and isinstance(code, str)][
        :_REFERENCES
    ]
    shown = len(tests["public_tests"])
    yield Task(
        id=f"code-contests/{name}",
        family="program",
        statement=statement,
        reference=answers[0] if answers else "",
        check=StdioCheck(
            cases=[
                StdioCase(stdin=given, stdout=wanted, shown=field == "public_tests")
                for field in _TESTS
                for given, wanted in tests[field]
            ]
        ),
        source=f"code-contests/{name}",
        metadata={"base_tests": shown, **({"references": answers[1:]} if answers[1:] else {})},
    )


CODE_CONTESTS = Adapter(
    name="code-contests",
    about="CodeContests (DeepMind): programs, with public, private and generated tests",
    read=_read_contests,
    fits=lambda row: has(row, name=str, description=str) and "private_tests" in row and "public_tests" in row,
)


_CHECKER = """\
import builtins, contextlib, io, sys

PROGRAM = compile({program!r}, "<checker>", "exec")
NAMES = ("input.txt", "correct_output.txt", "solution_output.txt")
OPEN = io.open


def check(stdin, expected, output):
    files = dict(zip(NAMES, (stdin, expected, output)))

    def opened(name, *args, **options):
        text = files.get(str(name))
        return OPEN(name, *args, **options) if text is None else io.StringIO(text)

    printed, arguments = io.StringIO(), sys.argv
    builtins.open = io.open = opened
    sys.argv = ["checker.py", *NAMES]
    try:
        with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
            exec(PROGRAM, {{"__name__": "__main__"}})
    finally:
        builtins.open = io.open = OPEN
        sys.argv = arguments
    words = printed.getvalue().split()
    return bool(words) and float(words[-1]) >= 1
"""


def as_checker(program: str) -> str:
    """A check's `checker` that runs a program: `checker.py input.txt correct_output.txt solution_output.txt`.

    Raises one of `UNPARSABLE`.
    """
    tree_of(program)
    return _CHECKER.format(program=program)


def _read_codeforces(row: Row, where: str) -> Iterator[Task]:
    name, statement = text(row, "id", where), text(row, "description", where)
    if text(row, "interaction_format", where, default="").strip():
        raise UserError(f"{where}: an interactive problem: left out")
    if text(row, "input_mode", where, default="stdio") == "file":
        raise UserError(f"{where}: the program reads a file (input_mode): left out")
    checker = text(row, "generated_checker", where, default="").strip()
    try:
        checker = checker and as_checker(checker)
    except UNPARSABLE:
        raise UserError(
            f"{where}: its checker (generated_checker) is not a Python program: left out"
        ) from None
    examples = _texts_of(row, "examples", where)
    tests = list(dict.fromkeys([*examples, *_texts_of(row, "official_tests", where)]))
    if len(tests) <= len(set(examples)):
        raise UserError(f"{where}: the task has no tests except its examples: official_tests is empty")
    parts = [statement]
    for heading, field in (("Input", "input_format"), ("Output", "output_format"), ("Note", "note")):
        if told := text(row, field, where, default="").strip():
            parts.append(f"{heading}\n{told}")
    yield Task(
        id=f"codeforces/{name}",
        family="program",
        statement="\n\n".join(parts),
        check=StdioCheck(
            cases=[StdioCase(stdin=i, stdout=o, shown=(i, o) in examples) for i, o in tests],
            checker=checker,
        ),
        source=f"codeforces/{name}",
        metadata={
            "title": text(row, "title", where, default=""),
            "base_tests": len(set(examples)),
            **date_of(row.get("contest_start")),
        },
    )


def _texts_of(row: Row, name: str, where: str) -> list[tuple[str, str]]:
    found = items(row, name, where, default=[])
    for test in found:
        if not isinstance(test, Mapping) or not all(
            isinstance(test.get(k), str) for k in ("input", "output")
        ):
            raise UserError(f"{where}: field {name!r} must hold tests with input and output, both strings")
    return [(test["input"], test["output"]) for test in found]


CODEFORCES = Adapter(
    name="codeforces",
    about="Codeforces (open-r1): programs, with official tests",
    read=_read_codeforces,
    fits=lambda row: has(row, id=str, description=str) and "official_tests" in row,
)
