"""Small worlds with tools, a state and a goal, made by rule: `tool-worlds`, as many as are asked for.

A kind is a class (`world.World`) with rules of its own and a function that draws a state, what is asked, and calls that
do it. The goal is what those calls change.
"""

from strop.tasks.tool_worlds.generate import WORLDS, generate, load

__all__ = ["WORLDS", "generate", "load"]
