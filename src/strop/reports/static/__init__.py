"""The page on disk, and the selection of a run's parts that keeps it small."""
