"""Made-up rows of EvalPlus's schemas: two of the releases, two of the Hub."""

from typing import Any

_PROMPT = 'def double(x: float) -> float:\n    """Twice x."""\n'
_BODY = "    return 2 * x\n"
_SHARED = '''"""
Items of two tuples that both have.
assert set(shared((1, 2), (2, 3))) == {2}
"""
'''
_SHARED_CODE = """
def shared(a, b):
    assert type(a) is tuple
    return tuple(set(a) & set(b))
"""
_CHECK = """import numpy as np

def is_floats(x) -> bool:
    return isinstance(x, float)


def assertion(out, exp, atol):
    assert np.allclose(out, exp, atol=atol)


def check(candidate):
    inputs = [[1.0], [2.5], [-3.0]]
    results = [2.0, 5.0, -6.0]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 1e-06)
"""
_FLAT = """import numpy as np
from math import inf

inputs = [[[(1, 2), (3,)]], [[()]]]
results = [3, 0]
for i, (inp, exp) in enumerate(zip(inputs, results)):
    assertion(total_length(*inp), exp, 0)
"""


def rows() -> list[dict[str, Any]]:
    """One row of each form."""
    human = {"prompt": _PROMPT, "entry_point": "double", "canonical_solution": _BODY}
    return [
        {
            "task_id": "HumanEval/900", **human,
            "base_input": [[1.0], [2.5]], "plus_input": [[-3.0], [1e300]], "atol": 1e-06, "contract": "",
        },
        {
            "task_id": "Mbpp/2", "prompt": _SHARED, "entry_point": "shared", "canonical_solution": _SHARED_CODE,
            "base_input": [[[1, 2], [2, 3]]], "plus_input": [[[], []]], "atol": 0, "contract": "", "assertion": "",
        },
        {"task_id": "HumanEval/901", **human, "test": _CHECK},
        {
            "task_id": 902, "prompt": "Write a function to sum the lengths of rows.", "source_file": "Sample",
            "code": "def total_length(rows):\n    return sum(len(row) for row in rows)",
            "test_imports": [], "test_list": ["assert total_length([(1, 2), (3,)]) == 3"], "test": _FLAT,
        },
    ]  # fmt: skip
