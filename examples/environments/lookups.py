"""Four concurrent lookups in a turn: Python's help on the words of a first try, before the answer.

strop train demo tasks.environment=examples/environments/lookups.py:Lookups
"""

import builtins
import inspect

import strop


def look_up(word):
    """Looks a word up. A slow service is called in the same way: each call has a thread, and decoding continues."""
    thing = getattr(builtins, word, None)
    return f"{word}: {(inspect.getdoc(thing) or 'nothing').splitlines()[0]}"


class Lookups:
    """Two turns: words to look up, then the answer."""

    def __init__(self, task, opening, read, *, calls: int = 4):
        self.opening, self.read, self.calls, self.asked = opening, read, calls, False

    def begin(self):
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion):
        """Looks up the first words; the second turn is the answer."""
        if self.asked:
            return strop.Done(self.read(completion.text))
        self.asked, words = True, [*completion.text.split(), *["len", "sum", "min", "max"]]
        return strop.Do(*(strop.Call(look_up, word[:40]) for word in words[: self.calls]))

    def result(self, effects, results):
        """Gets several effects and their results as tuples, in the same order."""
        return strop.Say((strop.Message(role="user", content="\n".join(results)),))
