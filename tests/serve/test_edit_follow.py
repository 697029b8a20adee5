"""What the user makes of a suggestion, told from changes and requests: what is no label never becomes one."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from strop.serve.edit_events import EditEventLog
from strop.serve.edit_model import Suggested
from strop.serve.edit_prompt import TextEdit
from strop.serve.edit_server import EditFollower, EditHistory, FollowedEdit, characters_kept
from strop_verify.core.checks import PastEdit
from strop_verify.core.edit_events import EditLog, read_events, read_suggestions
from strop_verify.core.rollout import Completion, SamplingParams

FILE, OTHER = "file:///a.py", "file:///b.py"
BEFORE, AT, TEXT = "def f():\n    \nf()\n", 13, "return 1"
AFTER = BEFORE[:AT] + TEXT + BEFORE[AT:]


class Session:
    """A follower over a log whose clock stands still until it is moved."""

    def __init__(self, folder: Path) -> None:
        self.now = 1000.0
        self.log = EditEventLog(folder, checkpoint="weights", clock=lambda: self.now)
        self.follower = EditFollower(self.log, settling=0.01, lost=300)
        self.follower.opened(FILE, BEFORE)
        self.follower.opened(OTHER, "")

    def suggested(self, text: str = TEXT) -> str:
        completion = Completion(token_ids=[1, 2], logprobs=[-1.0, -0.5], text=text, finish_reason="eos")
        edit = TextEdit(AT, AT, text)
        made = Suggested([5, 6], 7, SamplingParams(), completion, edit)
        id = self.log.served(made, dialect="lsp", client="c", path="/a.py", about=BEFORE)
        self.follower.show(FollowedEdit(id, FILE, BEFORE, AT, edit))
        return id

    def read(self, *, later: float = 0) -> EditLog:
        return read_suggestions(read_events(self.log.path), now=self.now + later)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


def changes(text: str) -> Callable[[EditFollower], None]:
    return lambda follower: follower.changed(FILE, BEFORE[:AT] + text + BEFORE[AT:])


def typed_through(follower: EditFollower) -> None:
    for end in range(1, len(TEXT) + 1):
        changes(TEXT[:end])(follower)
    follower.asked(FILE, AT + len(TEXT))


@pytest.mark.parametrize("waits", [0.499, 0.5])
@pytest.mark.parametrize(
    ("act", "why"),
    [
        (changes("pass"), "rejected"),
        (changes("return 2"), "rejected"),
        (lambda follower: follower.changed(FILE, BEFORE[: AT - 1] + BEFORE[AT:]), "rejected"),
        (lambda follower: follower.asked(FILE, 0), "rejected"),
        (lambda follower: follower.asked(OTHER, AT), "rejected"),
        (lambda follower: follower.asked(FILE, AT), "newer"),
        (changes("ret"), "typed"),
        (typed_through, "typed"),
        (lambda follower: follower.closed(FILE), "closed"),
        (lambda follower: follower.closed(), "closed"),
        (lambda follower: follower.changed(OTHER, "x"), "open"),
        (lambda follower: None, "open"),
    ],
)
def test_what_becomes_of_a_suggestion_that_is_not_taken(
    session: Session, waits: float, act: Callable[[EditFollower], None], why: str
) -> None:
    session.suggested()
    session.now += waits
    act(session.follower)
    (one,) = session.read().suggestions
    assert one.why == ("brief" if why == "rejected" and waits < 0.5 else why)
    assert (one.state == "labelled") == (one.why == "rejected")
    (later,) = session.read(later=300).suggestions
    assert later.why == ("lost" if why == "open" else one.why)


def test_one_whose_file_has_changed_meanwhile_was_never_shown(session: Session) -> None:
    changes("p")(session.follower)
    session.suggested()
    session.now += 9
    changes("pass")(session.follower)
    (one,) = session.read().suggestions
    assert (one.state, one.why) == ("censored", "typed")


def test_silence_is_an_answer(session: Session) -> None:
    completion = Completion(token_ids=[0], logprobs=[-0.1], text="", finish_reason="eos")
    session.log.served(Suggested([5], 7, SamplingParams(), completion, None), dialect="lsp", client="c")
    (one,) = session.read().suggestions
    assert (one.state, one.why) == ("labelled", "silent")
    assert session.read().labelled("weights") == [one] and not session.read().labelled("others")


def test_an_accepted_one_waits_until_its_file_rests(session: Session) -> None:
    async def use() -> None:
        id = session.suggested()
        session.follower.changed(FILE, AFTER)
        session.follower.accepted(id)
        session.follower.accepted(id)
        session.follower.accepted("unknown")
        (one,) = session.read().suggestions
        assert (one.state, one.accepted) == ("pending", len(TEXT))
        session.follower.changed(FILE, AFTER.replace("return 1", "return 12").replace("f()", "g()"))
        while session.read().counts()["pending"]:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(use(), 60))
    log = session.read()
    (one,) = log.suggestions
    assert (one.why, one.kept, log.doubled, log.orphans) == ("accepted", len(TEXT), 0, 0)


def test_a_file_that_never_rests_is_given_up(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.follower = EditFollower(session.log, settling=60, lost=-1)

    async def use() -> None:
        session.follower.accepted(session.suggested())
        session.follower.changed(FILE, "")
        session.follower.closed()

    asyncio.run(use())
    assert session.read().suggestions[0].state == "pending"
    (one,) = session.read(later=300).suggestions
    assert (one.why, one.kept) == ("accepted", None)


def test_kept_characters_are_those_of_the_text_alone() -> None:
    assert characters_kept("ab12cd", "ab12cd", 2, 4) == 2
    assert characters_kept("ab12cd", "xx ab1 cd", 2, 4) == 1
    assert characters_kept("ab12cd", "abcd", 2, 4) == 0
    assert characters_kept("ab12cd", "", 2, 4) == 0


def test_greedy_suggestions_are_not_learnt_from(session: Session) -> None:
    completion = Completion(token_ids=[0], logprobs=[0.0], text="", finish_reason="eos")
    greedy = SamplingParams(temperature=0)
    session.log.served(Suggested([5], 7, greedy, completion, None), dialect="lsp", client="c")
    assert session.read().counts()["labelled"] == 1 and session.read().labelled("weights") == []


def test_typing_on_in_a_line_that_a_suggestion_replaces() -> None:
    edit = FollowedEdit("id", FILE, "a = f(x\nb\n", 7, TextEdit(0, 7, "a = f(x, y)\nc"))
    assert edit.inserted() == "a = f(x, y)\nc\nb\n"
    assert edit.is_begun("a = f(x,\nb\n") and edit.is_begun("a = f(x, y)\nb\n")
    assert not edit.is_begun("a = f(x;\nb\n") and not edit.is_begun("a = f(\nb\n")
    assert not edit.is_begun("a = f(x\nb, \n")


def test_what_is_typed_around_one_place_is_one_edit() -> None:
    history = EditHistory()
    lines = [f"line {number}" for number in range(40)]

    def now(uri: str = FILE) -> None:
        history.changed(uri, "\n".join(lines))

    history.opened(FILE, "\n".join(lines))
    history.opened(OTHER, "old")
    assert history.newest(str) == ()
    for text in ("n", "ne", "new"):
        lines[3] = text
        now()
    lines.insert(4, "more")
    now()
    first = PastEdit(path=FILE, old=["line 3"], new=["new", "more"])
    assert history.newest(str) == (first,)
    history.changed(OTHER, "new")
    other = PastEdit(path=OTHER, old=["old"], new=["new"])
    assert history.newest(str) == (first, other)
    del lines[30]
    now()
    assert history.newest(str) == (first, other, PastEdit(path=FILE, old=["line 29"], new=[]))
    assert history.newest(lambda uri: uri if uri == OTHER else "") == (other,)
    for number in range(0, 36, 9):
        lines[number] = "x"
        now()
    assert len(history.newest(str)) == 7
