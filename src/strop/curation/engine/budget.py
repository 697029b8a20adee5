"""How many verdicts may be *error*: a broken grader must not pass for broken tasks."""

from strop.core.errors import TooManyErrors
from strop.core.verdict import Verdict


class ErrorBudget:
    """Watches the share of what could not be verified.

    share   that is too large when it is passed
    fewest  seen before the share counts
    """

    def __init__(
        self, share: float = 0.05, *, fewest: int = 100, what: str = "programs could not be verified"
    ) -> None:
        self._share, self._fewest, self._what = share, fewest, what
        self._seen = self._errors = 0

    def see(self, verdict: Verdict) -> Verdict:
        """Counts a verdict and gives it back. Raises TooManyErrors when too many of them are errors."""
        self.count(None if verdict.scored else verdict.detail)
        return verdict

    def count(self, error: str | None) -> None:
        """Counts one thing, with the cause where it could not be verified. Raises TooManyErrors."""
        self._seen += 1
        if error is None:
            return
        self._errors += 1
        if self._seen >= self._fewest and self._errors > self._share * self._seen:
            raise TooManyErrors(
                f"{self._errors} of {self._seen} {self._what}, more than {self._share:.0%}; the last cause: {error}"
            )
