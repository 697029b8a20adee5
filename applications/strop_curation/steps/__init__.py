"""The steps of a pipeline by name: module and class, such as `Shuffle(Step[ShuffleConfig])`, with its settings."""

STEPS = {
    "audit": "audit.Audit",
    "decontaminate": "decontaminate.Decontaminate",
    "dedupe": "dedupe.Dedupe",
    "difficulty": "difficulty.Difficulty",
    "filter-tests": "filter_tests.FilterTests",
    "min-tests": "selection.MinTests",
    "sample": "selection.SampleStep",
    "shuffle": "selection.Shuffle",
    "split": "split.Split",
    "verify": "verify.VerifyStep",
}
