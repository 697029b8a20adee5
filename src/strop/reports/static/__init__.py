"""The page on disk: what of a run it holds, so that it stays small."""
