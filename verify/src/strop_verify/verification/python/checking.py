"""In the tester process: runs a task's own checker for `strop_verify.verification.python.checker`.

Trusted code on hostile values, each decoded to exact builtin types. Only the exact value True passes. If the checker
raises, the result fails, so that no answer can turn its failure into *error*. The checker is at fault if a name or an
import is missing, or if it raises the same exception at the same line for the expected value, None and empty values.

Job: {"checker": code, "rows": [bytes of each of ..., expected, result]}. Sends for each row {"row", "ok", "x"}, {"row",
"own": cause} if the checker is at fault, or {"row", "forged": why}; then {"done": null}. Or {"broken": why}.
"""

from collections.abc import Callable
from traceback import walk_tb
from typing import Any

from strop_verify.verification.python.codec import Malformed
from strop_verify.verification.python.decoder import decode

Check = Callable[..., Any]


def run_rows(job: dict[str, Any], send: Callable[[dict[str, Any]], None], flush: Callable[[], None]) -> None:
    """Runs one job to {"done"}."""
    try:
        check = _load(job["checker"])
    except BaseException as error:
        return send({"broken": f"checker: {type(error).__name__}: {error}"[:300]})
    for number, row in enumerate(job["rows"]):
        try:
            values = [decode(part) for part in row]
        except Malformed as error:
            send({"row": number, "forged": str(error)})
            continue
        flush()  # the rows before, in case this one does not finish
        send({"row": number, **_judge(check, values, row)})
    send({"done": None})


def _load(code: str) -> Check:
    namespace: dict[str, Any] = {"__name__": "__checker__"}
    exec(compile(code, "<checker>", "exec", dont_inherit=True), namespace)
    check = namespace.get("check")
    if not callable(check):
        raise NameError("it defines no function check")
    return check  # type: ignore[no-any-return]


def _judge(check: Check, values: list[Any], row: list[bytes]) -> dict[str, Any]:
    try:
        result = check(*values)
    except BaseException as error:
        # without the text, which could hold an expected value
        cause = f"the checker raised {type(error).__name__} (line {_line(error)})"
        if isinstance(error, NameError | ImportError) and not isinstance(error, UnboundLocalError):
            return {"own": cause}
        return {"own": cause} if _raises_anyway(check, row, error) else {"ok": False, "x": cause}
    if result is True or result is False:
        return {"ok": result, "x": "" if result else "the checker rejected it"}
    return {"ok": False, "x": f"the checker returned {type(result).__name__}, not True or False"}


def _raises_anyway(check: Check, row: list[bytes], error: BaseException) -> bool:
    others: tuple[Any, ...] = (decode(row[-2]), None, 0, "", [], {})
    for instead in others:
        try:
            check(*(decode(part) for part in row[:-1]), instead)
            return False
        except BaseException as again:
            if type(again) is not type(error) or _line(again) != _line(error):
                return False
    return True


def _line(error: BaseException) -> int:
    """The last line of the checker's code in the traceback; 0 if there is none."""
    frames = walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == "<checker>"]
    return lines[-1] if lines else 0
