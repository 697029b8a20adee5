"""Tasks to implement: a function of a Python source is masked in its file, and its docstring says what it does.

The form and the filters are those of the data set that CodeRepairRL was trained on (ASSERT-KTH/stack-smol-docstrings).
Sources are only read and parsed, never run. See docs/implement.md.
"""

from strop_curation.engine.tally import TallyLayout

LAYOUT = TallyLayout(
    ("tasks", "files", "skipped", "functions", "filtered", "unusable", "splits"),
    lambda task: [("splits", str(task.split))],
)
