"""Tools in a folder that lasts as long as the play: `run: COMMAND` runs in the jail, and its changes persist.

strop train demo tasks.environment=examples/environments/folder_tools.py:FolderTools
"""

import strop


class FolderTools:
    """The answer is the text of `answer.py` after `turns` turns, or after a turn without a command."""

    def __init__(self, task, opening, read, *, turns: int = 3):
        self.opening, self.left = opening, turns

    def setup(self, services):
        """Runs in a thread before the play starts; the folder belongs to this play."""
        self.folder = services.folder
        self.folder.put({"note.txt": "Write your answer to answer.py."})

    def begin(self):
        """The task's prompt in the recipe's style."""
        return self.opening

    def step(self, completion):
        """Runs the command of a turn, or ends the play if there is none."""
        self.left -= 1
        _, called, command = completion.text.partition("run:")
        run = strop.Run(("/bin/sh", "-c", command.strip()), seconds=5, lasting=True)
        return strop.Do(run if called and self.left else strop.Call(self.answer))

    def answer(self):
        """The text of `answer.py` in the folder."""
        there = self.folder.files()
        return self.folder.read("answer.py").decode(errors="replace") if "answer.py" in there else ""

    def result(self, effect, result):
        """Sends a command's output to the policy; ends the play with the answer."""
        if isinstance(effect, strop.Call):
            return strop.Done(result)
        return strop.Say((strop.Message(role="user", content=str(result)[:400]),))
