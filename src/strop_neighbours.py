"""The old name of `strop.neighbours`, for one release."""

import sys

import strop  # sets up old names
import strop.neighbours

sys.modules[__name__] = strop.neighbours
