"""Lines of Python sources, as Python counts them."""

import ast

from strop.tasks.doctests import load
from strop_verify.code.python.source import lines_of, segment, signature_of

ODD = "\f\x0b\x1c\x1d\x1e\x85\u2028\u2029"
SOURCE = f'''A = "{ODD[1:]}"
\f
import os\r
import sys

def double(x):
    """Twice x. {ODD}

    >>> double(2)
    4
    """
    return x * 2
'''


def test_statements_are_found_by_their_lines(tmp_path):
    lines = lines_of(SOURCE)
    found = [segment(lines, node) for node in ast.parse(SOURCE).body]
    assert found[1:3] == ["import os", "import sys"] and found[0] == SOURCE.partition("\n")[0]
    assert found[3].startswith("def double(x):") and found[3].endswith("return x * 2")
    assert signature_of(SOURCE, "double").endswith("import sys\n\n\ndef double(x):")
    (tmp_path / "odd.py").write_text(SOURCE, newline="")
    (task,) = load(str(tmp_path / "odd.py"))
    assert "import sys" in task.signature and "return x * 2" in task.reference
