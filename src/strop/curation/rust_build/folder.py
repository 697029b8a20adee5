"""The names of what a build writes."""

RESULTS = "results.jsonl"
DROPPED, MANIFEST, ALL = "dropped.jsonl", "manifest.json", "tasks.jsonl"
PART_NAMES = ("train", "test", "eval")
