"""Suites out of an idiom grammar: what plain pytest passes, passes here, and what it fails does not."""

import random
from collections import Counter

from tests.scale import full, seed
from tests.verification.suite_idioms import IDIOMS, Suite, judged, suite

from strop_verify.core.checks import PytestCheck
from strop_verify.core.task import Task
from strop_verify.verification import open_verifier


def drawn() -> list[Suite]:
    """Each idiom alone in a full run, and 500 mixtures; else some of both."""
    rng = random.Random(seed())
    alone = [suite(rng, [one]) for one in (IDIOMS if full() else rng.sample(IDIOMS, 6))]
    return alone + [suite(rng) for _ in range(500 if full() else 4)]


def test_verdicts_are_those_of_plain_pytest() -> None:
    suites, rng = drawn(), random.Random(0)
    cases = [
        (number, answer) for number, one in enumerate(suites) for answer in (one.right, rng.choice(one.wrong))
    ]
    plain = judged([(answer, suites[number].text) for number, answer in cases])
    assert all(plain[::2]), [suites[n // 2] for n, ok in enumerate(plain) if n % 2 == 0 and not ok]
    verifier = open_verifier()
    try:
        tasks = [
            Task(
                id=f"suite-{number}",
                statement="s",
                reference=one.right,
                check=PytestCheck(files={"test_it.py": one.text}, tests=list(one.tests)),
            )
            for number, one in enumerate(suites)
        ]
        verdicts = [
            future.result() for future in [verifier.submit(tasks[number], answer) for number, answer in cases]
        ]
    finally:
        verifier.close()
    odd = [
        (
            suites[number].idioms,
            expected,
            verdict.outcome,
            verdict.trust,
            [t.message for t in verdict.tests],
            answer,
        )
        for (number, answer), expected, verdict in zip(cases, plain, verdicts, strict=True)
        if verdict.passed is not expected
    ]
    assert not odd, odd[0]
    print(Counter(str(verdict.trust) for verdict in verdicts[::2]))
