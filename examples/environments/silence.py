"""Silence as an action: the policy may say nothing, and only a reward decides. The tasks' check is `none`.

    tasks: {source: "jsonl:edits.jsonl", topics: [], environment: "examples/environments/silence.py:Suggests"}
    rewards: [{name: "examples/environments/silence.py:wanted"}]
    evaluation: {before: false, after: false}

A line of edits.jsonl: {"statement": "x = [1, 2", "check": {"kind": "none"}, "metadata": {"next": "]"}}
"""

import strop


class Suggests:
    """One turn: the completion's first line is the suggestion, and an empty one is silence."""

    def __init__(self, task, opening, read):
        self.task = task

    def begin(self):
        """No prompt style: just the text before the cursor."""
        return strop.Opening(text=self.task.statement)

    def step(self, completion):
        """Ends the play; an empty completion is also an answer."""
        return strop.Done(completion.text.partition("\n")[0].strip())


def wanted(task, rollout, verdict):
    """1 for what the person typed next, .5 for silence, 0 for any other suggestion."""
    if rollout.answer == task.metadata.get("next", ""):
        return 1.0
    return 0.0 if rollout.answer else 0.5
