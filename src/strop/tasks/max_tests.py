"""Fewer tests for a task: the ones with the longest inputs, as DeepCoder's rewards take at most 15.

Among input/output tests, long inputs are the most informative: they contain the corner cases and the slow ones. Only
tests that are data can be chosen (calls with arguments, programs with their input); test code stays unchanged.
"""

from strop.core.task import Task


def at_most(task: Task, most: int) -> Task:
    """The task with at most `most` tests, in their order: those that the prompt shows, then the longest inputs.

    Shown ones count too, and stay, as the question would change without them; of more than `most` the first do. Of
    inputs of one length the earlier is taken. `metadata["base_tests"]` becomes the number of base tests that are left.
    """
    kept = task.check.longest(most)
    return task if kept is None else task.with_tests(kept)
