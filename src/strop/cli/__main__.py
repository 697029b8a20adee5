"""`python -m strop.cli` runs `strop`."""

from strop.cli import main

main()
