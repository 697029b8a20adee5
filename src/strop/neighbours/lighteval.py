"""Strop's verdicts in LightEval: its LiveCodeBench tasks under names that begin with `strop_`.

    lighteval accelerate "model_name=..." strop_lcb:codegeneration --custom-tasks strop.neighbours.lighteval

The rows, the prompts and the extraction of code are LightEval's; only the judge differs.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from lighteval.metrics.metrics import SampleLevelMetric
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod
from lighteval.tasks.tasks.lcb.codegen_metrics import extract_code
from lighteval.tasks.tasks.lcb.main import TASKS_TABLE as ORIGINAL

from strop.evaluation.statistics import pass_at_k
from strop.neighbours.evaluators import submit, task_of, verdict_of
from strop_verify.core.task import Task


class StropVerdicts(SampleLevelComputation):
    """The share of a task's answers that pass."""

    def compute(self, model_response: ModelResponse, doc: Doc, **more: Any) -> float:
        """Judges the answers. Raises VerificationError if one could not be judged."""
        task = _task(doc)
        judged = [submit(task, extract_code(text)) for text in model_response.final_text]
        return pass_at_k(len(judged), sum(verdict_of(task, one).passed for one in judged), 1)


def _task(doc: Doc) -> Task:
    """The tests of the document as a row of LiveCodeBench."""
    name = doc.specific["fn_name"]
    kind = "functional" if name else "stdin"
    pairs = zip(doc.specific["inputs"], doc.specific["outputs"], strict=True)
    tests = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in pairs]
    return task_of(
        {
            "question_id": doc.id or doc.task_name,
            "question_content": doc.query,
            "public_test_cases": tests,
            "private_test_cases": "",
            "metadata": {"func_name": name},
        }
    )


_PASSED = SampleLevelMetric(
    metric_name="codegen_pass@1:16",  # the original's, which also sets how many answers are drawn
    category=SamplingMethod.GENERATIVE,
    higher_is_better=True,
    sample_level_fn=StropVerdicts(),
    corpus_level_fn=np.mean,
    batched_compute=False,
)
TASKS_TABLE = [replace(task, name=f"strop_{task.name}", metrics=[_PASSED]) for task in ORIGINAL]
"""The name that LightEval looks for."""
