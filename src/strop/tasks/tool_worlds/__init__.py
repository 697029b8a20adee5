"""Small generated worlds with tools, a state and a goal: the source `tool-worlds`, any number of tasks.

Each kind is a class (`world.World`) with its own rules and a function that draws a state, a request, and calls that
fulfil it. The goal is what those calls change.

A task's reference is the calls of an expert, including looks; its goals are what the known plans change. Split: by id.
"""

from collections.abc import Iterator, Mapping
from random import Random

from strop.tasks.rows import counted
from strop.tasks.tool_worlds import office, places, trade
from strop.tasks.tool_worlds.world import WORDS, World, changes, named, need, replayed, use, write_call
from strop_verify.core.checks import WorldCheck
from strop_verify.core.ids import rng, unit_interval
from strop_verify.core.task import Task

NAME = "tool-worlds"
DEFAULT_COUNT = 600
MOST = 1_000_000
"""Maximum COUNT."""
HELD_OUT = 0.2
ACTS = 2, 7
"""Minimum and maximum calls of a plan, without looks."""
WORLDS: Mapping[str, type[World]] = {
    kind.__name__.lower(): kind
    for room in (office, trade, places)
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, World) and kind is not World
}
"""Every kind of world by its name."""
_DRAWS = 500


def load(rest: str = "") -> Iterator[Task]:
    """Generates the tasks of `COUNT[@SEED]` lazily; "" is the default count. Raises UserError."""
    count, seed = counted(NAME, rest, DEFAULT_COUNT, MOST)
    return generate(count, seed=seed)


def generate(count: int, *, seed: int = 0) -> Iterator[Task]:
    """Tasks with different statements, the kinds in turn; a smaller count gives a prefix of the same sequence."""
    seen, kinds, index = set[str](), list(WORLDS), 0
    while len(seen) < count:
        task = task_of(kinds[index % len(kinds)], rng(NAME, seed, index))
        index += 1
        if task.statement not in seen:
            seen.add(task.statement)
            yield task


def task_of(name: str, r: Random) -> Task:
    """A task of a kind; redraws until one can be solved."""
    for _ in range(_DRAWS):
        try:
            return _task(name, WORLDS[name], r)
        except ValueError:
            continue
    raise RuntimeError(f"none of {_DRAWS} draws of the world {name} can be solved")


def _task(name: str, kind: type[World], r: Random) -> Task:
    """A task from one draw. Raises ValueError if it fails: a plan is refused, too short or too long."""
    start, asked, looks, plans = kind.draw(r)
    need(plans, "nobody can do it")
    goals = []
    for plan in plans:
        world = kind(start)
        for step in plan:
            use(world, named(kind, step))
        goals.append(changes(start, world.state, kind.free))
    look = [("look",), *(("look", part) for part in looks.split())]
    expert = [named(kind, step) for step in (*look, *plans[0])]
    acts = len(list(replayed(kind(start), expert)))
    need(ACTS[0] <= acts <= ACTS[1], f"{acts} acts")
    task = Task(
        family="tools",
        statement=f"Request {r.randint(1000, 99_999)}: {r.choice(WORDS['asked'][name]).format(**asked)}",
        reference="\n".join(map(write_call, expert)),
        check=WorldCheck(world=name, start=start, goals=goals, free=list(kind.free)),
        topic=name,
        level=1 if acts < 4 else 2 if acts < 6 else 3,
        source=f"{NAME}/{name}",
    )
    side = unit_interval(NAME, task.id)
    return task.model_copy(update={"split": "held-out" if side < HELD_OUT else "train"})
