"""Events that come shuffled, doubled, late or not at all: every suggestion has one state, and nothing is guessed."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale import some

from strop.serve.edit_events import EditEventLog
from strop.serve.edit_model import Suggested
from strop.serve.edit_prompt import TextEdit
from strop_verify.core.edit_events import (
    BRIEF,
    LOST,
    EditAccepted,
    EditDismissed,
    EditReplaced,
    EditServed,
    EditSettled,
    EditShown,
    read_events,
    read_suggestions,
)
from strop_verify.core.errors import UserError
from strop_verify.core.rollout import Completion, SamplingParams

Stories = list[tuple[str, list[Any]]]
STORIES = ("taken", "left", "left at once", "replaced", "silent", "secret", "unseen")


def story(kind: str, number: int, time: float, draw: random.Random) -> list[Any]:
    """All that truly happened to one suggestion."""
    id, count = f"s{number}", iter(range(10))

    def ids(seconds: float) -> dict[str, Any]:
        return {"event": f"{id}.{next(count)}", "id": id, "time": time + seconds}

    text = "" if kind == "silent" else "pass"
    completion = Completion(token_ids=[1], logprobs=[-1.0], text=text, finish_reason="eos")
    secret = kind == "secret"
    served = EditServed(
        **ids(0), session="a", client="c", dialect="lsp", file="f", checkpoint=f"w{number % 3}", seed=1,
        sampling=SamplingParams(), characters=len(text), withheld="secret" if secret else "",
        prompt_ids=None if secret else [1], completion=None if secret else completion,
    )  # fmt: skip
    if kind in ("silent", "unseen"):
        return [served]
    shown = EditShown(**ids(0.01), by="server")
    if kind in ("taken", "secret"):
        words = [EditAccepted(**ids(1), characters=2)] if draw.random() < 0.5 else []
        whole = EditAccepted(**ids(2), characters=4)
        return [served, shown, *words, whole, EditSettled(**ids(12), kept=3, discarded=1)]
    if kind == "replaced":
        return [served, shown, EditReplaced(**ids(1), why=draw.choice(["newer", "typed", "closed"]))]
    after = BRIEF / 2 if kind == "left at once" else BRIEF * 2
    return [served, shown, EditDismissed(**ids(0.01 + after))]


def check(count: int, seed: int, lost: float, doubled: float) -> None:
    draw = random.Random(seed)
    stories = [(draw.choice(STORIES), number) for number in range(count)]
    true = {
        number: story(kind, number, number * 0.1, draw) for number, kind in enumerate(k for k, _ in stories)
    }
    sent = [event for events in true.values() for event in events]
    arrived = [event for event in sent if draw.random() >= lost]
    again = [event for event in arrived if draw.random() < doubled]
    draw.shuffle(mixed := arrived + again)
    for now in (None, max(event.time for event in sent) + LOST):
        log = read_suggestions(mixed, now=now)
        counts = log.counts()
        assert counts["served"] == counts["labelled"] + counts["censored"] + counts["pending"]
        assert counts["served"] == sum(isinstance(event, EditServed) for event in arrived)
        assert log.doubled == len(again)
        ids = {event.id for event in arrived if isinstance(event, EditServed)}
        assert sorted(one.served.id for one in log.suggestions) == sorted(ids)
        assert log.orphans == sum(event.id not in ids for event in arrived)
        assert now is None or counts["pending"] == 0
        assert log == read_suggestions(sorted(mixed, key=lambda event: event.event), now=now)
        for one in log.suggestions:
            kind = stories[int(one.served.id[1:])][0]
            whole = {"taken": "accepted", "left": "rejected", "silent": "silent"}.get(kind)
            # A label is never another than the true one, whatever was lost.
            assert one.state != "labelled" or one.why == whole, (kind, one)
            if not lost and now is None and kind not in ("unseen",):
                assert one.state == ("labelled" if whole else "censored"), (kind, one)
            if one.why == "accepted":
                assert one.accepted in (2, 4) and one.kept in (3, None)


@pytest.mark.parametrize(("lost", "doubled"), some([(0.0, 0.0), (0.0, 0.5), (0.3, 0.3)], 1))
def test_ten_thousand_events_are_each_joined_once(lost: float, doubled: float) -> None:
    check(4000, 7, lost, doubled)  # of about two and a half events each


@given(st.integers(1, 30), st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 1))
def test_whatever_is_lost_or_doubled(count: int, seed: int, lost: float, doubled: float) -> None:
    check(count, seed, lost, doubled)


def written(folder: Path, texts: list[str], about: str = "", path: str = "a.py") -> Path:
    log = EditEventLog(folder, checkpoint="weights")
    for text in texts:
        completion = Completion(
            token_ids=[*text.encode()], logprobs=[0.0] * len(text), text=text, finish_reason="eos"
        )
        made = Suggested([*about.encode()], 1, SamplingParams(), completion, TextEdit(0, 0, text))
        log.served(made, dialect="lsp", client="c", path=path, about=about)
    log.close()
    return log.path


def test_a_log_that_is_being_written_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = written(tmp_path, ["a", "b"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [one.completion.text for one in read_events(path)] == ["a"]
    path.write_bytes(whole)
    assert len(read_events(path)) == 2
    path.write_text('{"kind": "served"}\n{"kind": "shown"}\n')
    with pytest.raises(UserError, match=r":1: not an edit event"):
        read_events(path)


def test_each_session_has_a_file_that_nobody_else_reads(tmp_path: Path) -> None:
    paths = {written(tmp_path / "log", ["a"]) for _ in range(3)}
    assert len(paths) == 3
    assert all(path.stat().st_mode & 0o77 == 0 for path in (*paths, tmp_path / "log"))
    files = {event.file for path in paths for event in read_events(path)}
    assert len(files) == 3  # the key of a file's hash is the session's


CANARY = "q7Zk2mXv9Rb4Tn8WcJ5y"
SECRETS = [
    f"AWS_KEY = 'AKIA{CANARY[:16].upper()}'",
    f"token = 'ghp_{CANARY}{CANARY[:16]}'",
    f'client = OpenAI(api_key="sk-{CANARY}")',
    f"password: '{CANARY}'",
    f'PASSWORD = "{CANARY[:3]}',  # while it is typed
    f'"secret_access_key": "{CANARY}"',
    f"headers = {{'Authorization': 'Bearer {CANARY}'}}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----",
    f"url = 'postgres://me:{CANARY}@db/x'",
    f"jwt = 'eyJhbGciOiJIUzI1NiJ9.{CANARY}'",
    f"x = '{CANARY}{CANARY[::-1]}'",  # nothing but random
    f"# a comment\nDATABASE={CANARY}\nexport SENTRY={CANARY}\n",  # an .env file by its text
    f"key = 0x{'a1b2c3d4e5f60718' * 2}{CANARY}",
]
CODE = '''class TokenCounter:
    """Counts tokens; see https://example.org/a_long_name_of_a_page/with_parts_and_more."""

    def next_token(self, secret_santa=None):
        token = self.tokens.pop()
        self.password_field = PasswordField(required=True)
        return token if token else a_function_with_a_rather_long_name_indeed(self)
'''


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("of", ["file", "answer"])
def test_secrets_never_reach_the_log(secret: str, of: str, tmp_path: Path) -> None:
    about, text = (CODE + secret, "pass") if of == "file" and "comment" not in secret else (secret, "pass")
    if of == "answer":
        about, text = CODE, secret
    path = written(tmp_path, [text], about=about)
    (event,) = read_events(path)
    assert (event.withheld, event.prompt_ids, event.completion) == ("secret", None, None)
    assert CANARY[:8] not in path.read_text()
    (one,) = read_suggestions([event]).suggestions
    assert (one.state, one.why) == ("censored", "secret")


@pytest.mark.parametrize(
    "name", ["/x/.env", "/x/.env.local", "/x/prod.env", "/x/key.pem", "/home/me/.ssh/config", "/x/id_rsa", "/x/.netrc",
             "/x/secrets.yml", "/x/credentials.json", "/x/.npmrc", "/x/terraform.tfvars"],
)  # fmt: skip
def test_files_that_hold_secrets_by_name_are_not_logged(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, ["pass"], about="plain", path=name)
    assert read_events(path)[0].withheld == "secret"
    assert name.rpartition("/")[2] not in path.read_text()


@pytest.mark.parametrize("name", ["/x/tokenizer.py", "/x/environment.py", "/x/keys.py", "/home/me/a.rs"])
def test_other_files_are_logged(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, ["pass"], about=CODE, path=name)
    assert read_events(path)[0].withheld == ""


def test_event_types_are_what_is_read(tmp_path: Path) -> None:
    log = EditEventLog(tmp_path, checkpoint="weights")
    calls: list[Callable[[], None]] = [
        lambda: log.shown("a"),
        lambda: log.accepted("a", 3),
        lambda: log.dismissed("a"),
        lambda: log.replaced("a", "newer"),
        lambda: log.settled("a", kept=1, discarded=2),
    ]
    for call in calls:
        call()
    kinds = [event.kind for event in read_events(log.path)]
    assert kinds == ["shown", "accepted", "dismissed", "replaced", "settled"]
    assert read_suggestions(read_events(log.path)).orphans == 5
