"""An environment with a tool: the first answer is run in the jail, and what it prints is said before the second."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import strop


class RunItFirst:
    """Holds a folder with what its programs printed; `setup` and `close` run in threads beside the plays."""

    def __init__(self, task: strop.Task, opening: strop.Opening, read: Callable[[str], str]) -> None:
        self.opening, self.read, self.tries = opening, read, 0

    def setup(self) -> None:
        """Before the first prompt; an exception here is never the model's failure."""
        self.folder = Path(tempfile.mkdtemp(prefix="play-"))

    def close(self) -> None:
        """After the play, however it ended."""
        shutil.rmtree(self.folder)

    def begin(self) -> strop.Opening:
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion: strop.Completion) -> strop.Do | strop.Done:
        """The first answer is run, the second is final."""
        answer, self.tries = self.read(completion.text), self.tries + 1
        if self.tries == 2:
            return strop.Done(answer)
        return strop.Do(strop.Run(("/bin/sh", "look.sh"), {"look.sh": answer}, seconds=5.0))

    def result(self, effect: strop.Run, ran: strop.Ran) -> strop.Say:
        """What the program printed is the next prompt."""
        (self.folder / "printed.txt").write_text(ran.output + ran.errors)
        said = f"It ended with status {ran.status} and printed: {ran.output + ran.errors}"
        return strop.Say((strop.Message(role="user", content=said),))


if __name__ == "__main__":
    task = strop.load_tasks("python-functions", limit=1)[0]

    def answer(prompt: list[int], seed: int, asked: int) -> str:
        """Looks first, then answers."""
        return task.reference if "printed: " in policy.tokenizer.decode(prompt) else "echo $((6 * 7))"

    policy = strop.ScriptedPolicy(answer)
    (group,) = strop.play(policy, [task], environment=RunItFirst)
    rollout = group.rollouts[0]
    said = policy.tokenizer.decode(rollout.turns[1].prompt_ids)
    print(said.strip(), len(rollout.turns), "turns,", rollout.verdict.outcome.value)
