"""Plays of a step or an evaluation, shared out over the processes: each plays its part, everyone gets all."""

from collections.abc import Iterator, Sequence

from strop.core.rollout import Group, Rollout, SamplingParams
from strop.core.task import Task
from strop.rewards.rubric import RubricBySet, WeightedRubric
from strop.rollouts.dispatcher import Dispatcher
from strop.rollouts.groups import play_groups
from strop.training.ranks import Ranks


class SharedPlay:
    """Plays tasks with this process's player and its peers'. All processes call its methods alike."""

    def __init__(
        self,
        player: Dispatcher,
        rubric: WeightedRubric | RubricBySet,
        ranks: Ranks,
        *,
        by_turn: bool = False,
    ) -> None:
        """`by_turn`: turns that have a verdict get a reward of their own."""
        self.player = player
        self._rubric = rubric
        self._ranks = ranks
        self._by_turn = by_turn

    def by(self, player: Dispatcher) -> "SharedPlay":
        """The same with another player."""
        return SharedPlay(player, self._rubric, self._ranks, by_turn=self._by_turn)

    def apart(self) -> "SharedPlay":
        """The same for another thread. All processes must call it."""
        return SharedPlay(self.player, self._rubric, self._ranks.apart(), by_turn=self._by_turn)

    def groups(
        self, tasks: Sequence[Task], size: int, params: SamplingParams, *, seed: int, step: int, round: int
    ) -> list[Group]:
        """One group of `size` rollouts a task, scored, in the tasks' order."""
        mine = play_groups(
            self.player,
            self._rubric,
            self._ranks.share(tasks),
            size,
            params,
            seed=seed,
            step=step,
            round=round,
            by_turn=self._by_turn,
        )
        return self._ranks.interleave(self._ranks.gather(mine))

    def rollouts(
        self, tasks: Sequence[Task], samples: int, params: SamplingParams, *, seed: int, tag: str
    ) -> Iterator[Rollout]:
        """Every task `samples` times, with verdicts and without scores, in any order."""
        mine = self.player.play(self._ranks.share(tasks), samples, params, seed=seed, tag=tag)
        if self._ranks.world == 1:
            yield from mine
        else:
            for share in self._ranks.gather(list(mine)):
                yield from share
