"""The page on disk, and which parts of a run it holds to stay small."""
