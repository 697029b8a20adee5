"""The page on disk: which parts of a run it holds, so that it stays small."""
