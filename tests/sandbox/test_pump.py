"""What is kept of a stream: its head, its tail and the number of what is between, however it arrives."""

import random
import re

from strop_verify.sandbox.pump import Capture

NOTE = re.compile(r"\n?\[(\d+) lines, (\d+) characters left out\]\n|\[(\d+) characters left out\]")


def test_head_tail_and_count_are_those_of_the_stream() -> None:
    draw = random.Random()
    for _ in range(3000):
        limit, letters = draw.randrange(4, 60), draw.choice(["a\n", "abcdé€😀\n", "é€", "aaaaaaaaaaé\n"])
        text = "".join(draw.choices(letters, k=draw.randrange(400)))
        data, capture = text.encode(), Capture(limit)
        while data:
            size = draw.randrange(1, 100)
            capture(data[:size])
            data = data[size:]
        assert capture.kept == text.encode()[:limit] and capture.seen == len(text.encode())
        assert capture.flood == (len(text.encode()) > 16 * limit)
        shown, left_out = capture.excerpt()
        assert len(shown.encode()) <= 4 * limit + 60
        if not left_out:
            assert shown == text
            continue
        (note,) = NOTE.finditer(shown)
        said = int(note[1] or 0), int(note[2] or note[3])
        head, tail = shown[: note.start()], shown[note.end() :]
        assert text.startswith(head) and text.endswith(tail), (text, shown)
        # The end of a line before the note is the head's, or, where that is a part of the first line, the note's.
        gone = [text[len(one) : len(text) - len(tail)] for one in (head, f"{head}\n") if text.startswith(one)]
        counts = [(part.count("\n"), len(part)) for part in gone]
        assert said in counts, (text, shown)
        assert left_out == said[1]


def test_a_limit_of_its_own_for_what_floods() -> None:
    capture = Capture(10, 1000)
    capture(b"x" * 1000)
    assert not capture.flood
    capture(b"x")
    assert capture.flood
