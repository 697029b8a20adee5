"""Edit tasks out of what others have already mended: commits, rows with a patch, programs with a compiler's message.

See docs/edit-tasks.md, "strop build edits".
"""

from strop.curation.edits.wish import LAYOUT, Wish

__all__ = ["LAYOUT", "Wish"]
