"""Errors that Strop raises on purpose.

A `UserError` is for the user to fix: the command line prints it in one line without a traceback and exits with code 2.
A `VerificationError` is our failure: the grader could not decide, so the rollout is *error*, never a zero.
"""


class StropError(Exception):
    """Base of every error that Strop raises on purpose."""

    said = False
    """Whether another process of the same run prints it."""


class UserError(StropError):
    """Bad input. The message names the cause, the offending value and the remedy in one line."""


class ConfigError(UserError):
    """One or more mistakes in a recipe or an override; `faults` holds one line each."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


class SandboxError(StropError):
    """The jail could not be built or broke; says which layer and why."""


class NotStarted(SandboxError):
    """The request is impossible: no such program, or a file of that name or size cannot be written."""


class PlayLost(SandboxError):
    """The process that held a play died through no fault of the play, which is played again."""


class VerificationError(StropError):
    """The grader itself failed; becomes a verdict with outcome *error*."""


class TaskFault(VerificationError):
    """The task cannot be judged, whatever the answer."""


class WorkerDied(VerificationError):
    """One of our processes ended or stopped responding during a job; the job may be retried once."""


class BatchFailed(WorkerDied):
    """One of several jobs prevented the others' verdicts; each is judged alone."""


class TooManyErrors(StropError):
    """The share of rollouts with outcome *error* exceeded its limit; carries the first cause seen."""
