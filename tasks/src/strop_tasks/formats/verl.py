"""verl: parquet rows with a conversation and a rule-based ground truth.

Reference: verl, "Prepare Data for Post-Training"; the code sets of code-r1 and of verl's prime_code reward. Rows:
data_source, prompt [{"role", "content"}], ability, reward_model {"style": "rule", "ground_truth"}, extra_info {"split",
"index", ...}. ground_truth is JSON text: {"inputs", "outputs"} with or without "fn_name" (see `strop.tasks.io_tests`),
a list of test cases in either form of `strop.tasks.case_lists`, {"functional": Python code that asserts and calls the
answer}, or a list of such statements.

1. The statement is the user's message; a system message is left out.
2. The id is extra_info.index if that is a string, else DATA_SOURCE/INDEX, with extra_info.dataset, if present, as the
   data source. A set that repeats indices across its parts has duplicate ids: the first row counts on import.
3. The reference is extra_info.reference; a function gets the imports that it needs.
4. In functional code, `Solution().name` becomes `name`; the called function is found as in `assert_lists`.
5. Only Python tasks with stdin and stdout, calls, or asserts can be written. Topic, level, tolerance and which cases
   are shown are lost.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from strop.tasks import case_lists, io_tests, prompts
from strop.tasks.adapters import Adapter
from strop.tasks.rows import Row, decoded
from strop_tasks.formats import solutions
from strop_tasks.formats.assert_lists import check_of
from strop_tasks.formats.fields import items, mapping
from strop_verify.core.checks import AssertsCheck, CasesCheck, PytestCheck, StdioCheck
from strop_verify.core.errors import UserError
from strop_verify.core.task import Task

Check = StdioCheck | CasesCheck | AssertsCheck | PytestCheck


def _read(row: Row, where: str) -> Iterator[Task]:
    conversation = _conversation(items(row, "prompt", where), where)
    extra = {k: v for k, v in mapping(row, "extra_info", where, default={}).items() if v is not None}
    truth = decoded(mapping(row, "reward_model", where), "ground_truth", f"{where}: reward_model")
    reference = str(extra.get("reference") or "")
    check = _check(truth, reference, extra, where)
    entry = check.function
    reference = solutions.with_imports(reference) if entry else reference
    starter = str(extra.get("starter_code") or "")
    source = str(extra.get("dataset") or row.get("data_source") or "verl")
    index = extra.get("index")
    yield Task(
        id=index if isinstance(index, str) else f"{source}/{index}" if index is not None else "",
        family="function" if entry else "program",
        statement="\n\n".join(content for role, content in conversation if role == "user"),
        signature=solutions.signature(starter, reference, entry) if entry else "",
        reference=reference,
        check=check,
        source=f"{source}/{index}",
    )


def _conversation(messages: list[Any], where: str) -> list[tuple[str, str]]:
    conversation: list[tuple[str, str]] = []
    for message in messages:
        role, content = (
            message.get(k) if isinstance(message, Mapping) else None for k in ("role", "content")
        )
        if not isinstance(role, str) or not isinstance(content, str):
            raise UserError(f"{where}: field 'prompt' must hold messages with role and content, both strings")
        conversation.append((role, content))
    if not any(role == "user" for role, _ in conversation):
        raise UserError(f"{where}: field 'prompt' holds no user message")
    return conversation


def _check(truth: Any, reference: str, extra: Mapping[str, Any], where: str) -> Check:
    spot = f"{where}: ground_truth"
    if isinstance(truth, list) and truth and all(isinstance(line, str) for line in truth):
        return functional_check("\n".join(truth), str(extra.get("entry_point") or ""), reference, spot)
    if isinstance(truth, list):
        hint = str(extra.get("entry_point") or extra.get("func_name") or "")
        starter = str(extra.get("starter_code") or "")
        return case_lists.check_of(truth, spot, _METHOD.sub(r"\1", hint), starter)
    if isinstance(truth, Mapping) and isinstance(truth.get("functional"), str):
        return functional_check(truth["functional"], str(extra.get("entry_point") or ""), reference, spot)
    if not isinstance(truth, Mapping) or "inputs" not in truth:
        raise UserError(f"{spot}: expected inputs and outputs, a list of test cases, or functional code")
    return io_tests.read_tests(truth, str(extra.get("starter_code") or ""), spot)


def _write(task: Task) -> dict[str, Any]:
    if task.language != "python":
        raise UserError(f"task {task.id!r}: verl's code sets hold Python, but this is {task.language}")
    asserts = task.check.maybe(AssertsCheck)
    truth = {"functional": asserts.code} if asserts else io_tests.write_tests(task)
    messages = prompts.render(task, "chat").messages
    return {
        "data_source": task.source.partition("/")[0] or "strop",
        "prompt": [message.model_dump(include={"role", "content"}) for message in messages],
        "ability": "code",
        "reward_model": {"style": "rule", "ground_truth": json.dumps(truth, ensure_ascii=False)},
        "extra_info": {
            "split": "test" if task.split == "held-out" else "train",
            "index": task.id,
            **({"reference": task.reference} if task.reference else {}),
        },
    }


def _fits(row: Row) -> bool:
    model = row.get("reward_model")
    return isinstance(model, Mapping) and "ground_truth" in model and isinstance(row.get("prompt"), list)


VERL = Adapter(
    name="verl",
    about="verl: prompt, reward_model.ground_truth, extra_info",
    read=_read,
    fits=_fits,
    write=_write,
)


_METHOD = re.compile(r"\bSolution\(\)\.(\w+)")


def functional_check(code: str, entry_point: str, reference: str, where: str) -> Check:
    """The check of a script; `entry_point` may be empty, or `Solution().name`. Raises UserError."""
    plain, name = (_METHOD.sub(r"\1", text) for text in (code, entry_point))
    return check_of([plain], "", reference, where, name)
