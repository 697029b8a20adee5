"""Edit tasks out of what others have already mended: commits, rows with a patch, programs with a compiler's message.

See docs/edit-tasks.md, "strop build edits".
"""

from strop.curation.edits.tally import Tally, Wish

__all__ = ["Tally", "Wish"]
