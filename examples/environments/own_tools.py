"""Tools of your own: the public methods of a class. The task's file is solution.py; its final text is judged.

strop train demo "tasks.environment={type: workspace, tools: 'examples/environments/own_tools.py:Desk'}"
"""

import builtins
import inspect

import strop


class Desk(strop.Toolbox):
    """One object is one play. Every toolbox has the tool `finish`."""

    @strop.tool(lines=10)
    def explain(self, name: str) -> str:
        """Says what one of Python's own functions does."""
        if not hasattr(builtins, name):
            raise ValueError(f"Python has no {name}")  # the policy gets this message
        return inspect.getdoc(getattr(builtins, name)) or "nothing is known"

    @strop.tool(seconds=5)
    def save(self, code: str) -> str:
        """Writes the solution, and runs it once in the jail."""
        self.folder.put({"solution.py": code})
        return self.program(["python", "solution.py"]).errors or "saved"
