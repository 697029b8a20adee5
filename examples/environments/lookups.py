"""Four lookups a turn, side by side: what Python's help says about the words of a first try, before the answer.

strop train demo tasks.environment=examples/environments/lookups.py:Lookups
"""

import builtins
import inspect

import strop


def look_up(word):
    """A slow service would be called in just this way: each call has a thread, and decoding goes on."""
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
        """The first words are looked up, the second turn is the answer."""
        if self.asked:
            return strop.Done(self.read(completion.text))
        self.asked, words = True, [*completion.text.split(), *["len", "sum", "min", "max"]]
        return strop.Do(*(strop.Call(look_up, word[:40]) for word in words[: self.calls]))

    def result(self, effects, results):
        """Of several effects, both come as tuples in their order."""
        return strop.Say((strop.Message(role="user", content="\n".join(results)),))
