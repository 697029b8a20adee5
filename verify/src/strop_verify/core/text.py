"""Makes hostile text safe for a terminal, and removes reasoning from it, in time linear in its length."""

import re
from bisect import bisect
from collections.abc import Sequence
from functools import cache

from strop_verify.core.fences import FENCE_LINE, FenceReader

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of writing direction
    "\u2028\u2029\ud800-\udfff]"  # other line breaks; lone surrogates, which cannot be sent to a terminal
)

THOUGHTS = (
    *((f"<{tag}>", f"</{tag}>") for tag in ("think", "thinking", "thought", "reasoning", "seed:think")),
    ("[THINK]", "[/THINK]"),  # Mistral
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Cohere
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1, OpenThinker
    ("<|inner_prefix|>", "<|inner_suffix|>"),  # Apertus
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),  # Kimi-VL
)
"""Opening and closing marks of thoughts, for the models in use; those in angle brackets match in any case."""
ANSWERS = (
    *((f"<{tag}>", f"</{tag}>") for tag in ("answer", "solution", "response", "final_answer")),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),  # Sky-T1, OpenThinker
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),  # Cohere
    ("<|begin_of_box|>", "<|end_of_box|>"),  # GLM
    ("[ANSWER]", "[/ANSWER]"),
)
"""Opening and closing marks of answers, matched in any case."""
CODE_ANSWERS = (*ANSWERS, ("<code>", "</code>"), ("[PYTHON]", "[/PYTHON]"))
"""The same for answers that are code, with the marks of smolagents and Code Llama."""
_TAG = re.compile("|".join(mark for pair in THOUGHTS[:5] for mark in pair), re.ASCII | re.IGNORECASE)
_CHANNEL = re.compile(
    r"(?:\A\s*|(?<![\"'`])(?<![\"'`]<\|start\|>)assistant[^<\n]{0,99})"
    r"<\|channel\|>(analysis|commentary|final)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
)
"""The head of a message in gpt-oss's format, without `<|start|>` if that was stripped as a turn's marker."""
_MESSAGE_END = re.compile(r"<\|(?:return|end)\|>\s*(?=\Z|<\|start\|>)")
_SPACE = re.compile(r"\s*")
_ENDS = re.compile(r"[ \t]*[\r\n]*")
_CODE_START = re.compile(
    r"\s*(?:(?:async )?def \w+\(|class \w+[(:]|import \w|from [\w.]+ import |@\w|#include|use \w+::|(?:pub )?fn \w"
    r"|function \w+\(|\"\"\")"
)
_LONGEST_LINE = 10_000


def printable(text: str) -> str:
    """The text with control characters and direction overrides written as escapes; newline and tab stay.

    A terminal that prints the result cannot be made to move its cursor, change its title or reorder what is read.
    """
    return _UNSAFE.sub(_escape, text)


def plain_text(text: str) -> str:
    """The text as data: `\\n` ends its lines, and control characters and direction overrides are gone."""
    return _UNSAFE.sub("", re.sub("\r\n?|[\u2028\u2029]", "\n", text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def without_thinking(response: str) -> str:
    """The response without its leading reasoning, in any form of `THOUGHTS`; an unfinished thought leaves nothing.

    The prompt may hold the opening tag. Of several closing tags without an opening one, the last that is not part of
    code counts; those at the very end count only if there is no other. In gpt-oss's channels, `final` is the answer.
    """
    response = _in_final_channel(response)
    tags = _TAG.sub(lambda tag: tag[0].lower(), response)
    for opening, closing in THOUGHTS:
        if closing in tags or opening in tags:
            start, end = _said(tags, opening, closing)
            response, tags = response[start:end], tags[start:end]
    return response


def in_answer_tags(text: str, starts: re.Pattern[str], tags: Sequence[tuple[str, str]] = ANSWERS) -> str:
    """The text between answer tags: from the line after the first tag to its last closing tag, or to the end.

    A tag counts only at the start of a line before the first match of `starts`; after that, it is part of the answer.
    """
    found = _at_line_start(tuple(tags)).search(text)
    if not found or starts.search(text, 0, found.start()):
        return text
    closing = next(end for begin, end in tags if begin.lower() == found[1].lower())
    ends = [match.start() for match in re.finditer(re.escape(closing), text[found.end() :], re.IGNORECASE)]
    inner = text[found.end() :][: ends[-1] if ends else None].lstrip(" \t")
    return inner.removeprefix("\r").removeprefix("\n")


def without_later_thoughts(text: str, language: str = "") -> str:
    """The text without thoughts that begin a line outside fenced blocks; an unclosed one extends to the end."""
    thoughts = _at_line_start(THOUGHTS)
    if not (found := thoughts.search(text)):
        return text
    reader, kept, end, at = FenceReader(text), list[str](), 0, 0
    opening = reader.opening(0)
    while found:
        if opening and opening.start < at:
            opening = reader.opening(at)
        if opening and opening.start < found.start():
            at = reader.block(opening, language).end
        else:
            kept.append(text[end : found.start()])
            closing = next(close for begin, close in THOUGHTS if begin.lower() == found[1].lower())
            close = re.compile(re.escape(closing), re.IGNORECASE).search(text, found.end())
            end = at = close.end() if close else len(text)
        found = thoughts.search(text, at) if at > found.start() else found
    return "".join([*kept, text[end:]])


@cache
def _at_line_start(tags: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    words = "|".join(re.escape(begin) for begin, _ in tags)
    return re.compile(rf"^[ \t]*({words})", re.MULTILINE | re.IGNORECASE)


def _in_final_channel(response: str) -> str:
    """The text of the channel `final`; without one, the response from `commentary` on, which holds the calls."""
    heads = list(_CHANNEL.finditer(response)) if "<|channel|>" in response else []
    final = next((head for head in heads if head[1] == "final"), None)
    if final:
        end = _MESSAGE_END.search(response, final.end())
        return response[final.end() : end.start() if end else None]
    if not heads:
        return response
    said = next((head for head in heads if head[1] == "commentary"), None)
    return response[said.start() :] if said else ""


def _said(text: str, opening: str, closing: str) -> tuple[int, int]:
    """(start, end) of the text left after removing the thought between these tags."""
    start, size = 0, len(closing)
    while text.startswith(opening, _behind(_SPACE, text, start)):
        close = text.find(closing, start)
        if close < 0:
            return 0, 0
        start = _behind(_ENDS, text, close + size)
    first = text.find(closing, start)
    if first < 0 or text.find(opening, start, first) >= 0:
        return start, len(text)
    fences = [(match.start(), match[1].strip()) for match in FENCE_LINE.finditer(text, start)]
    end = stop = _without_closing(text, start, closing)
    while (close := text.rfind(closing, start, stop)) >= 0:
        before = max(text.rfind(closing, start, close), start)
        if text.find(opening, before, close) >= 0:
            stop = close
        elif _is_code(text, start, close, closing, fences):
            stop = max(text.rfind("\n", start, close), start)
        else:
            rest = _behind(_ENDS, text, close + size)
            if not text.startswith(opening, _behind(_SPACE, text, rest)):
                return rest, max(rest, end)
            inner, last = _said(text[rest:end], opening, closing)
            return rest + inner, rest + last
    return (start, end) if end == len(text) else (0, 0)


def _without_closing(text: str, start: int, closing: str) -> int:
    """The index where closing tags at the end begin; the length of the text if there are none."""
    end = at = len(text)
    while at > start:
        if text[at - 1].isspace():
            at -= 1
        elif text.endswith(closing, start, at):
            end = at = at - len(closing)
        else:
            break
    return end


def _is_code(text: str, start: int, close: int, closing: str, fences: list[tuple[int, str]]) -> bool:
    """Whether a closing tag is part of code: a literal, a comment, a block. The first tag at a line's end never is."""
    end = close + len(closing)
    first, last = text.rfind("\n", start, close) + 1, text.find("\n", end)
    line = text[max(first, start) : last if last >= 0 else len(text)]
    behind = text[end : last if last >= 0 else len(text)].strip()
    if behind.startswith(("```", "~~~")):
        return False
    index = bisect(fences, (close, ""))
    in_block = index % 2 == 1 and not (fences[index][1] if index < len(fences) else "")
    if not behind:
        return in_block and index < len(fences) and text.find(closing, start, close) >= 0
    if len(line) < _LONGEST_LINE and _in_literal_or_comment(closing).search(line):
        return True
    return in_block if fences else _CODE_START.match(text, start) is not None


@cache
def _in_literal_or_comment(tag: str) -> re.Pattern[str]:
    inside = re.escape(tag)
    literal = rf"""(?<!\w)[rbfuRBFU]{{0,2}}(["'`])(?:(?!\1).)*{inside}(?:(?!\1).)*\1(?!\w)"""
    return re.compile(rf"{literal}|(?<!\S)(?:#(?!#)|//)[^\n]*{inside}")


def _behind(pattern: re.Pattern[str], text: str, start: int) -> int:
    """The index after the match at `start` of a pattern that always matches."""
    match = pattern.match(text, start)
    return match.end() if match else start


def squeeze(text: str) -> str:
    """The text with all white space removed."""
    return "".join(text.split())


def left_out(lines: int, characters: int) -> str:
    """The note that replaces left-out text: `lines` lines, or a part of one if 0. Line ends count as characters."""
    return f"[{f'{lines} lines, ' if lines else ''}{characters} characters left out]"
