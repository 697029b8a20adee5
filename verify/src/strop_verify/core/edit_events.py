"""Outcomes of suggested edits: the events of a log, and the suggestions they add up to.

    served             a suggestion was sent, or silence, which is an answer too
    shown              it is on the screen
    accepted           the user took this many of its characters
    dismissed          the user went on without it
    replaced           it disappeared without a decision
    settled            what the user's edits left of an accepted one

Events carry the id of their suggestion, made by the server, and their own. They may be late, duplicated or lost:
`read_suggestions` takes them in any order, each once, and gives every served suggestion one state. Nothing is
guessed: unknown outcomes are pending, and later censored.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from strop_verify.core import files
from strop_verify.core.errors import UserError
from strop_verify.core.records import Record
from strop_verify.core.rollout import Completion, SamplingParams

BRIEF = 0.5
"""Seconds; a suggestion dismissed sooner was not read."""
SETTLING = 10.0
"""Seconds without an edit after which an accepted suggestion is settled."""
LOST = 300.0
"""Seconds after which a missing event counts as lost."""

Dialect = Literal["lsp", "openai", "infill"]
Leaving = Literal["newer", "cancelled", "typed", "continued", "closed"]
"""Why a suggestion disappeared: a newer one replaced it; the client cancelled its request; the user typed some or all
of it; a later request's text continues with it (whether taken or typed is unknown); its file or the server closed."""


class EditEvent(Record):
    """Base of all events."""

    event: str
    """The event's own id."""
    id: str
    """The suggestion's id."""
    time: float
    """Seconds since the epoch."""


class EditServed(EditEvent):
    """A suggestion, or silence, with everything that an update needs."""

    kind: Literal["served"] = "served"
    session: str
    """The server's session, which lasts from its start to its end."""
    client: str
    dialect: Dialect
    file: str
    """Keyed hash of its path, constant within a session."""
    language: str = ""
    checkpoint: str
    """Digest of the weights that sampled it."""
    sampling: SamplingParams
    seed: int
    shown_probability: float = 1.0
    """Probability with which a random gate let it pass, if there was one."""
    characters: int
    """Length of the offered text; 0 is silence."""
    withheld: Literal["", "secret"] = ""
    """Why the next two fields are None."""
    prompt_ids: list[int] | None
    completion: Completion | None
    """With the log-probabilities under the distribution that was sampled from."""


class EditShown(EditEvent):
    """It is on the screen."""

    kind: Literal["shown"] = "shown"
    by: Literal["client", "server"]
    """Who reports it: the client, or the server, for clients that show everything."""


class EditAccepted(EditEvent):
    """The user took it, or that many characters from its start; a later event's count includes the earlier ones."""

    kind: Literal["accepted"] = "accepted"
    characters: int


class EditDismissed(EditEvent):
    """The user went on without it while it was shown."""

    kind: Literal["dismissed"] = "dismissed"


class EditReplaced(EditEvent):
    """It disappeared without a decision."""

    kind: Literal["replaced"] = "replaced"
    why: Leaving


class EditSettled(EditEvent):
    """What became of the accepted text."""

    kind: Literal["settled"] = "settled"
    kept: int
    """Characters of it that are still there, and those that are not."""
    discarded: int


AnyEditEvent = Annotated[
    EditServed | EditShown | EditAccepted | EditDismissed | EditReplaced | EditSettled,
    Field(discriminator="kind"),
]
_EVENT: TypeAdapter[Any] = TypeAdapter(AnyEditEvent)

State = Literal["labelled", "censored", "pending"]
Why = Literal[
    "accepted", "rejected", "silent",  # labelled
    "newer", "cancelled", "typed", "continued", "closed", "brief", "secret", "lost",  # censored
    "open",  # pending
]  # fmt: skip


@dataclass(frozen=True)
class SuggestedEdit:
    """One served suggestion, and its known outcome.

    accepted  characters that the user took
    kept      how many of them were left after settling; None if unknown

    A labelled one has its tokens and log-probabilities, since withheld ones are censored.
    """

    served: EditServed
    state: State
    why: Why
    accepted: int = 0
    kept: int | None = None


@dataclass(frozen=True)
class EditLog:
    """The content of a log: `served == labelled + censored + pending`.

    doubled  duplicate events: the same one again, or a second of its kind
    orphans  events of suggestions that are not in the log
    """

    suggestions: tuple[SuggestedEdit, ...]
    doubled: int
    orphans: int

    def counts(self) -> dict[str, int]:
        """How many suggestions were served, and how many are in each state."""
        states = Counter[str](one.state for one in self.suggestions)
        return {
            "served": len(self.suggestions),
            **{state: states[state] for state in ("labelled", "censored", "pending")},
        }

    def labelled(self, checkpoint: str) -> list[SuggestedEdit]:
        """Suggestions of one checkpoint to learn from; not those of greedy decoding, which has no alternatives."""
        return [
            one
            for one in self.suggestions
            if one.state == "labelled"
            and one.served.checkpoint == checkpoint
            and one.served.sampling.temperature > 0
        ]


def read_events(path: Path) -> list[Any]:
    """The events of a log, or of all logs in a folder; servers may still be writing them. Raises UserError."""
    if path.is_dir():
        return [event for file in sorted(path.glob("*.jsonl")) for event in read_events(file)]
    events = []
    for number, value in enumerate(files.read_jsonl(path), start=1):
        try:
            events.append(_EVENT.validate_python(value))
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"]))
            raise UserError(f"{path}:{number}: not an edit event: {where}: {fault['msg']}") from None
    return events


def read_suggestions(events: Iterable[Any], *, now: float | None = None) -> EditLog:
    """The state of each suggestion at the time `now`, by default that of the newest event."""
    served: dict[str, EditServed] = {}
    others: dict[str, dict[str, list[Any]]] = {}
    seen: set[str] = set()
    doubled = 0
    events = sorted(events, key=lambda one: (one.time, one.event))
    for event in events:
        if event.event in seen or (event.kind == "served" and event.id in served):
            doubled += 1
            continue
        seen.add(event.event)
        if event.kind == "served":
            served[event.id] = event
        else:
            others.setdefault(event.id, {}).setdefault(event.kind, []).append(event)
    orphans = sum(len(same) for id, kinds in others.items() if id not in served for same in kinds.values())
    doubled += sum(
        len(same) - len({getattr(event, "characters", 0) for event in same})  # it is accepted in parts
        for id, kinds in others.items()
        if id in served
        for same in kinds.values()
    )
    if now is None:
        now = max((event.time for event in events), default=0.0)
    return EditLog(
        tuple(_suggestion(one, others.get(id, {}), now) for id, one in served.items()), doubled, orphans
    )


def _suggestion(served: EditServed, events: dict[str, list[Any]], now: float) -> SuggestedEdit:
    """Its state by the set of its events, since their order in a log means nothing."""
    first = {kind: same[0] for kind, same in events.items()}
    last = max(event.time for event in (served, *first.values()))
    late = now - last >= LOST
    if served.withheld:
        return SuggestedEdit(served, "censored", "secret")
    if not served.characters:
        return SuggestedEdit(served, "labelled", "silent")
    if "accepted" in first:
        taken, settled = max(event.characters for event in events["accepted"]), first.get("settled")
        if settled or late:
            return SuggestedEdit(served, "labelled", "accepted", taken, settled and settled.kept)
        return SuggestedEdit(served, "pending", "open", taken)
    if "settled" not in first:  # else its acceptance is missing
        if "replaced" in first:
            return SuggestedEdit(served, "censored", first["replaced"].why)
        if "dismissed" in first and "shown" in first:
            if first["dismissed"].time - first["shown"].time < BRIEF:
                return SuggestedEdit(served, "censored", "brief")
            return SuggestedEdit(served, "labelled", "rejected")
    return SuggestedEdit(served, "censored", "lost") if late else SuggestedEdit(served, "pending", "open")
