"""LeetCodeDataset and DebugBench: problems of LeetCode, as methods of a class `Solution`.

LeetCodeDataset (Apache-2.0): data set newfacade/LeetCodeDataset; Xia et al. 2025, arXiv:2504.14655. Rows: task_id,
question_id, difficulty, tags, problem_description, starter_code, estimated_date, prompt (the site's imports, and
helpers for lists and trees), completion, entry_point (`Solution().NAME`), test (a function `check(candidate)`),
input_output, query, response.

1. Each assert of `check` is one test. The imports of `prompt` stand above every answer, as in the original harness,
   which runs all three as one program.
2. Tests that build linked lists or trees hand objects of their own to the answer, which do not cross; such rows are
   left out, each with its line.

DebugBench (Apache-2.0): data set Rtian/DebugBench; Tian et al. 2024, arXiv:2401.04621. Rows: slug, category, subtype,
language (cpp, java, python3), level, release_time, question, examples (texts), constraints, solution,
solution_explanation, bug_explanation, buggy_code.

3. The set has no tests: its authors sent answers to the site. What its examples show are the tests here, all of them
   shown; an audit says so (`leak-tests`). Rows whose examples are not calls with JSON values, and other languages
   than Python, are left out.
4. Family `repair`: `metadata.broken` is the buggy code. The examples do not notice every bug, which an audit finds.
"""

import ast
import re
from collections.abc import Iterator

from strop.code.python.source import UNPARSABLE, tree_of
from strop.core.checks import AssertsCheck, Case, CasesCheck
from strop.core.errors import UserError
from strop.core.task import Task
from strop.tasks.adapters import Adapter
from strop.tasks.levels import level_of
from strop.tasks.row_limits import parse_json
from strop.tasks.rows import Row
from strop_formats.assert_lists import body_of_check
from strop_formats.fields import date_of, has, items, text, whole_row, with_original
from strop_formats.livecodebench import PREAMBLE
from strop_formats.solutions import starter_signature, with_imports

_METHOD = re.compile(r"^Solution\(\)\.(\w+)$")
_OBJECTS = {"list_node", "tree_node", "ListNode", "TreeNode", "is_same_list", "is_same_tree"}
"""Helpers of the set's prompts that build or compare objects."""


def _read_leetcode(row: Row, where: str) -> Iterator[Task]:
    name, starter = text(row, "task_id", where), text(row, "starter_code", where, default="")
    named = _METHOD.match(text(row, "entry_point", where).strip())
    if named is None:
        raise UserError(f"{where}: entry_point must be Solution().NAME, not {row['entry_point']!r:.60}")
    try:
        body = body_of_check(text(row, "test", where), named[1])
        if not any(isinstance(node, ast.Assert) for node in body):
            raise ValueError("no asserts in a function check")
        code = "".join(f"{ast.unparse(node)}\n" for node in body)
        imports = _imports(text(row, "prompt", where, default=""))
    except UNPARSABLE as error:
        raise UserError(
            f"{where}: the tests are no check(candidate) in Python: {' '.join(str(error).split())[:100]}"
        ) from error
    if held := sorted(name for name in _OBJECTS if re.search(rf"\b{name}\b", code)):
        raise UserError(
            f"{where}: its tests hand over objects of their own ({held[0]}), which do not cross: left out"
        )
    level = text(row, "difficulty", where, default="")
    task = Task(
        id=name,
        statement=text(row, "problem_description", where),
        signature=starter_signature(starter),
        reference=text(row, "completion", where, default=""),
        check=AssertsCheck(entry_point=named[1], code=code, preamble=imports),
        topic=level,
        level=level_of(level) or 0,
        source=f"leetcode/{name}",
        metadata=date_of(row.get("estimated_date")),
    )
    yield with_original(task, row, ())


def _imports(prompt: str) -> str:
    """The prompt without its helpers of the tests: imports, constants, and the site's classes."""
    body = [node for node in tree_of(prompt).body if not isinstance(node, ast.FunctionDef)]
    return "".join(f"{ast.unparse(node)}\n" for node in body)


LEETCODE = Adapter(
    name="leetcode",
    about="LeetCodeDataset (newfacade): problems of LeetCode with check(candidate)",
    read=_read_leetcode,
    fits=lambda row: has(row, task_id=str, problem_description=str, entry_point=str, test=str),
    write=lambda task: whole_row(task, "test"),
)


_EXAMPLE = re.compile(r"Input:\s*(.*?)\s*Output:\s*(.*?)\s*(?:Explanation:.*)?$", re.S)
_ARGUMENT = re.compile(r"(?:^|,\s*)([A-Za-z_]\w*)\s*=\s*")


def _read_debugbench(row: Row, where: str) -> Iterator[Task]:
    slug, language = text(row, "slug", where), text(row, "language", where).lower()
    if language not in ("python3", "python"):
        raise UserError(
            f"{where}: {language} has no tests that can be run: the set's examples are read for Python"
        )
    solution, broken = text(row, "solution", where), text(row, "buggy_code", where)
    examples = [str(one) for one in items(row, "examples", where, default=[])]
    try:
        entry = _method(solution)
        cases = [
            _case(example, f"{where}: example {number}") for number, example in enumerate(examples, start=1)
        ]
    except UNPARSABLE as error:
        raise UserError(f"{where}: no test can be read: {' '.join(str(error).split())[:100]}") from error
    if not cases:
        raise UserError(f"{where}: the task has no tests: examples is empty")
    level, subtype = text(row, "level", where, default=""), text(row, "subtype", where, default="")
    told = [text(row, "question", where), *examples, text(row, "constraints", where, default="")]
    task = Task(
        id=f"debugbench/{slug}/{text(row, 'category', where, default='')}/{subtype}".replace(" ", "-"),
        family="repair",
        statement="\n\n".join(filter(None, told)),
        reference=with_imports(solution),
        check=CasesCheck(entry_point=entry, cases=cases, preamble=PREAMBLE),
        topic=subtype,
        level=level_of(level) or 0,
        source=f"debugbench/{slug}",
        metadata={"broken": with_imports(broken), **date_of(row.get("release_time"))},
    )
    yield with_original(task, row, ())


def _method(code: str) -> str:
    """The method of the class `Solution` that the site calls: the last public one. Raises ValueError."""
    classes = [n for n in tree_of(code).body if isinstance(n, ast.ClassDef) and n.name == "Solution"]
    methods = [
        n.name for node in classes for n in node.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"
    ]
    if len(methods) != 1:
        raise ValueError(f"class Solution has {len(methods)} methods, wanted one")
    return methods[0]


def _case(example: str, where: str) -> Case:
    """The call of an example such as `Input: nums = [2, 1], k = 3 Output: 4`. Raises UserError."""
    match = _EXAMPLE.search(example.strip())
    names = list(_ARGUMENT.finditer(match[1])) if match else []
    if match is None or not names:
        raise UserError(f"{where}: no input and output in it: {' '.join(example.split())[:60]!r}")
    ends = [*(name.start() for name in names[1:]), len(match[1])]
    values = [match[1][name.end() : end].strip() for name, end in zip(names, ends, strict=True)]
    return Case(
        args=[parse_json(value, where) for value in values],
        expected=parse_json(match[2].strip(), where),
        shown=True,
    )


DEBUGBENCH = Adapter(
    name="debugbench",
    about="DebugBench: solutions of LeetCode with a bug, judged by their examples",
    read=_read_debugbench,
    fits=lambda row: has(row, slug=str, buggy_code=str, solution=str, language=str),
    write=lambda task: whole_row(task, "buggy_code"),
)
