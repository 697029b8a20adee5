"""The cost of passing values between an answer and its tests: CPU milliseconds per verdict, by kind of value.

    PYTHONPATH=src python benchmarks/channel.py [--rounds N] [--json FILE]
    PYTHONPATH=src python benchmarks/channel.py --against OTHER/src

Every answer returns its argument. `cases`: the value goes to the candidate and is compared in this process on its
return; `asserts`: it is made and compared in the tester. CPU time is that of this process, its helpers and the
candidate, the minimum of N rounds. With --against, another tree of Strop's source takes turns with this one, and the
ratio of the costs is printed; above 1, this tree is slower.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from verify_python import children, clock, own_cpu

VALUES = {
    "few": "[1, 2, 3]",
    "text": "'hello'",
    "ints": "[i * 7 for i in range(100_000)]",
    "text of a megabyte": "'abcdefgh' * 131_072",
    "dicts": "{f'k{i}': {'a': i, 'b': [i, i + 1], 'c': f'text {i}'} for i in range(5_000)}",
    "words": "[f'word {i}' for i in range(20_000)]",
    "floats": "[i / 7 for i in range(20_000)]",
    "rows": "[[i % 10 for i in range(100)] for _ in range(100)]",
}
CALLS = 8
"""Calls of an answer with a small value; large values are passed once."""


def serve() -> None:
    """Prints the CPU milliseconds of each check, one round for each line read."""
    from strop_verify.core.checks import AssertsCheck, Case, CasesCheck
    from strop_verify.core.task import Task
    from strop_verify.sandbox import Limits
    from strop_verify.verification import open_verifier

    limits = Limits(cpu_seconds=20, wall_seconds=120, result_bytes=64 << 20)
    tasks = {}
    for name, code in VALUES.items():
        value: Any = eval(code)
        calls = CALLS if len(code) < 10 else 1
        cases = CasesCheck(entry_point="f", cases=[Case(args=[value], expected=value)] * calls)
        asserts = AssertsCheck(
            entry_point="f", code=f"value = {code}\n" + "assert f(value) == value\n" * calls
        )
        tasks |= {f"cases: {name}": cases, f"asserts: {name}": asserts}
    with open_verifier(workers=1, limits=limits) as verifier:
        for number, _ in enumerate(sys.stdin):
            spent = {}
            for name, check in tasks.items():
                helpers = children()
                before = own_cpu() + sum(map(clock, helpers))
                task = Task(statement="s", check=check)
                verdict = verifier.verify(task, f"def f(value):\n    return value\n# {number}\n")
                assert verdict.passed, verdict.detail
                after = own_cpu() + sum(map(clock, helpers))
                spent[name] = 1000 * (after - before + verdict.cpu_seconds)
            print(json.dumps(spent), flush=True)


def measure(sources: list[str], rounds: int) -> list[dict[str, float]]:
    """The minimum cost of every check, for each source tree."""
    sides = [
        subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env={**os.environ, "PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for source in sources
    ]
    least: list[dict[str, float]] = [{} for _ in sides]
    for _ in range(rounds + 1):  # the first round starts processes
        for side, known in zip(sides, least, strict=True):
            assert side.stdin is not None and side.stdout is not None
            side.stdin.write("\n")
            side.stdin.flush()
            for name, spent in json.loads(side.stdout.readline()).items():
                known[name] = min(spent, known.get(name, spent))
    for side in sides:
        side.communicate(timeout=60)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--against", metavar="SRC", help="another tree of source")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    sources = [str(Path(__file__).parents[1] / "src"), *([options.against] if options.against else [])]
    ours, *others = measure(sources, options.rounds)
    result = {name: {"cpu_ms": round(spent, 3)} for name, spent in ours.items()}
    for name, spent in others[0].items() if others else ():
        result[name] |= {"against_ms": round(spent, 3), "ratio": round(ours[name] / spent, 3)}
    text = json.dumps(result, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
