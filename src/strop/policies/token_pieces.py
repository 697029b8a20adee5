"""The text of each token of an answer, one after another."""

from collections.abc import Sequence

from strop_verify.core.protocols import Tokenizer

_CUT = "\ufffd"
"""What a character is read as whose bytes are not all there."""


class TokenPieces:
    """The texts of tokens, which make up the answer's text laid end to end.

    A token that ends inside a character has the text ""; the whole character is that of the token that ends it.
    """

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self._tokenizer, self._prompt = tokenizer, prompt
        self.texts: list[str] = []
        self._start = self._read = 0

    def take(self, ids: Sequence[int], *, last: bool = False) -> None:
        """Reads what is new of all the answer's tokens so far; `last`: a character that is not whole stays one."""
        for end in range(len(self.texts) + 1, len(ids) + 1):
            known, whole = self._text(ids[self._start : self._read]), self._text(ids[self._start : end])
            if whole.endswith(_CUT) and not (last and end == len(ids)):
                self.texts.append("")
                continue
            self.texts.append(whole[len(known) :])
            self._start, self._read = self._read, end

    def _text(self, ids: Sequence[int]) -> str:
        if not ids:
            return ""
        return self._tokenizer.decode(ids, after=() if self._start else self._prompt)


def within(texts: Sequence[str], length: int) -> int:
    """How many of the tokens begin in a text of that length."""
    at = 0
    for number, text in enumerate(texts):
        if at >= length:
            return number
        at += len(text)
    return len(texts)
