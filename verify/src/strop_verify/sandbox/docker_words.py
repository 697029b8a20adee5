"""Expands words of a Dockerfile as Docker does: variables, quotes, backslashes."""

from collections.abc import Mapping

from strop_verify.core.errors import UserError

_SPECIAL = "@*#?-$!0"


def expanded(word: str, variables: Mapping[str, str]) -> str:
    """The word with variables replaced by their values (empty if unset) and without quotes.

    Raises UserError for a word that Docker refuses, and for `${NAME#...}`, `%` and `/`.
    """
    return _Word(word, variables).until("")


class _Word:
    """A word and how far it has been read."""

    def __init__(self, word: str, variables: Mapping[str, str]) -> None:
        self._word, self._variables, self._at = word, variables, 0

    def until(self, stop: str) -> str:
        """Expands the text up to the character `stop`, or to the word's end if that is empty."""
        found = []
        while (now := self._next()) and now != stop:
            if now == "'":
                end = self._word.find("'", self._at)
                if end < 0:
                    raise self._fault("a quote is not closed")
                found.append(self._word[self._at : end])
                self._at = end + 1
            elif now == '"':
                found.append(self._double())
            elif now == "$":
                found.append(self._value())
            else:
                found.append(self._next() if now == "\\" else now)
        if now != stop:
            raise self._fault(f"there is no {stop}")
        return "".join(found)

    def _double(self) -> str:
        found = []
        while (now := self._next()) != '"':
            if not now:
                raise self._fault("a quote is not closed")
            if now == "$":
                now = self._value()
            elif now == "\\" and (self._peek() in '"$\\' or not self._peek()):
                now = self._next()
            found.append(now)
        return "".join(found)

    def _value(self) -> str:
        """The value of a variable whose `$` has been read."""
        if self._peek() != "{":
            name = self._name()
            return self._variables.get(name, "") if name else "$"
        self._next()
        if self._peek() in "{}:":
            raise self._fault("bad substitution")
        name, sign = self._name(), self._next()
        value = self._variables.get(name)
        if sign == "}":
            return value or ""
        if sign == ":":
            sign, value = self._next(), value or None
        if not sign or sign not in "-+?":
            raise self._fault("this form of ${...} needs a container")
        other = self.until("}")
        if sign == "+":
            return "" if value is None else other
        if value is None and sign == "?":
            raise self._fault(other or "it is not allowed to be unset")
        return other if value is None else value

    def _name(self) -> str:
        start = self._at
        if self._peek() and self._peek() in _SPECIAL:
            self._at += 1
        else:
            digits = self._peek().isdigit()
            while (now := self._peek()) and (now.isdigit() if digits else now.isalnum() or now == "_"):
                self._at += 1
        return self._word[start : self._at]

    def _peek(self) -> str:
        return self._word[self._at : self._at + 1]

    def _next(self) -> str:
        now = self._peek()
        self._at += len(now)
        return now

    def _fault(self, why: str) -> UserError:
        return UserError(f"{self._word:.60}: {why}")
