"""Functions whose statement leaves out one fact, which only feedback tells: `needs-feedback`.

A *kind* has K equally likely options for the fact (kinds.py). The option of a task is drawn apart from all that its
statement shows, so no single answer passes more often than 1 in K.
"""

from strop_generators.needs_feedback.generate import generate, load

__all__ = ["generate", "load"]
