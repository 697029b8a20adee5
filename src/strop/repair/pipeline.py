"""The stages of a repair in order: files, lines, edits, tests, reranking. docs/search.md describes them for users.

Every random choice comes from (seed, stage, sample). A stage that finds nothing uses a weaker method and records that
in the report's notes; only if no edit applies is there no diff.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from strop.repair import files_stage, lines_stage
from strop.repair.asking import Asker, prompt
from strop.repair.candidates import Applied, collect
from strop.repair.outline import pieces
from strop.repair.plan import RepairPlan
from strop.repair.record import Edit, FoundFile, RepairReport, passes, rerank, why_not_most
from strop.repair.repository import RepositoryTexts
from strop.repair.reproduce import TestFile, test_files
from strop.repair.testing import Bench, ProjectTests, RepairWatch
from strop_verify.core.rollout import Message
from strop_verify.edits import EXACT, LENIENT

_ISSUE_SHARE = 0.4
"""Largest share of the prompt's bound that the issue may take."""


class _Repair:
    def __init__(
        self,
        repository: RepositoryTexts,
        issue: str,
        asker: Asker,
        plan: RepairPlan,
        tests: ProjectTests | None,
        watch: RepairWatch,
    ) -> None:
        self.repository, self.asker, self.plan, self.tests, self.watch = repository, asker, plan, tests, watch
        self.issue = asker.clipped(issue.strip(), _ISSUE_SHARE)
        self.notes: list[str] = []
        if self.issue != issue.strip():
            self.note("the issue is cut in the middle because it takes up too much of the prompt")

    def note(self, line: str) -> None:
        self.notes.append(line)
        self.watch.say(f"note: {line}")

    def ask(self, stage: str, messages: Sequence[Message], samples: int, label: str) -> list[str]:
        with self.watch.progress(label, samples) as step:
            return self.asker.ask(
                stage, messages, samples, temperature=self.plan.temperature, max_tokens=self.plan.max_tokens,
                on_answer=step,
            )  # fmt: skip

    def files(self, given: Sequence[str]) -> list[FoundFile]:
        """Stage 1: chooses the files to edit."""
        found = [FoundFile(path=path, votes=0, by="given") for path in given] or self._found_files()
        told = ", ".join(
            f"{f.path} ({f.votes} of {self.plan.locating} votes)" if f.by == "model" else f"{f.path} ({f.by})"
            for f in found
        )
        self.watch.say(f"files: {told}")
        return found

    def _found_files(self) -> list[FoundFile]:
        plan = self.plan
        order = files_stage.lexical_order(self.repository, self.issue)
        if plan.localise == "lexical":
            return files_stage.choose([], order, plan.most_files, plan.localise)
        messages, shown = files_stage.tree_prompt(self.asker, self.issue, order, plan.most_files)
        if shown < len(order):
            self.note(f"{shown} of {len(order)} files are listed in the prompt, those closest to the issue")
        answers = self.ask("files", messages, plan.locating, "localising files")
        found = files_stage.choose(answers, order, plan.most_files, plan.localise)
        if not any(file.by == "model" for file in found):
            self.note("the model names no file of the repository; files are chosen by the words of the issue")
        return found

    def edit_prompt(self, ranges: lines_stage.Ranges) -> list[Message]:
        files = {path: self.repository.files[path] for path in ranges}
        shown = lines_stage.view(files, ranges, numbers=self.plan.format == "line-range")
        rules = prompt(f"rules-{self.plan.format}", {})[0].content
        return prompt("edit", {"issue": self.issue, "files": shown, "rules": rules})

    def lines(self, chosen: Sequence[str]) -> lines_stage.Ranges:
        """Stage 2: the whole files if they fit, else a choice of their lines."""
        whole: dict[str, None] = dict.fromkeys(chosen)
        if self.asker.fits(self.edit_prompt(whole)):
            self.watch.say(f"lines: {len(whole)} whole files fit into the prompt")
            return whole
        if self.plan.format == "whole-file":
            kept = self.asker.most(lambda n: self.edit_prompt(dict.fromkeys(chosen[:n])), len(chosen))
            self.note(f"{len(chosen) - kept} files are too long to be rewritten as a whole")
            return dict.fromkeys(chosen[:kept])
        files = {path: self.repository.files[path] for path in chosen}
        found = {path: pieces(path, text) for path, text in files.items()}
        messages = lines_stage.outline_prompt(self.asker, self.issue, files, found)
        answers = self.ask("lines", messages, self.plan.locating, "localising lines")
        ranges, places = lines_stage.choose(
            answers, self.issue, files, found, lambda shown: self.asker.fits(self.edit_prompt(shown))
        )
        if not places:
            self.note("the model names no place in the files; lines are chosen by the words of the issue")
        self.watch.say(
            "lines: "
            + ("; ".join(f"{p} {', '.join(f'{a}-{b}' for a, b in r)}" for p, r in ranges.items()) or "none")
        )
        return ranges

    def edits(self, ranges: lines_stage.Ranges) -> Applied:
        """Stage 3: samples edits, and groups those that apply."""
        plan = self.plan
        answers = self.ask("edits", self.edit_prompt(ranges), plan.samples, "sampling edits")
        tolerance = EXACT if plan.exact else LENIENT
        applied = collect(answers, self.repository, list(ranges), plan.format, tolerance)
        good = sum(not sample.fault for sample in applied.samples)
        self.watch.say(
            f"edits: {good} of {len(answers)} samples apply, {len(applied.edits)} different edits{_faults(applied)}"
        )
        return applied

    def reproduction(self, ranges: lines_stage.Ranges) -> list[TestFile]:
        """Test files that the policy writes."""
        if not self.plan.reproductions or self.tests is None:
            return []
        if self.repository.language != "python":
            self.note("reproduction tests are written for Python only")
            return []
        shown = lines_stage.view({p: self.repository.files[p] for p in ranges}, ranges)
        messages = prompt("tests", {"issue": self.issue, "files": shown})
        answers = self.ask("tests", messages, self.plan.reproductions, "sampling reproduction tests")
        return test_files(answers, self.repository)


def repair(
    repository: RepositoryTexts,
    issue: str,
    asker: Asker,
    plan: RepairPlan,
    *,
    watch: RepairWatch,
    tests: ProjectTests | None = None,
    given: Sequence[str] = (),
) -> RepairReport:
    """Looks for the edit that fixes an issue. The repository is not changed.

    tests  runs tests; None: no tests are run, and the majority decides
    given  files to edit, instead of those that stage 1 finds
    """
    work = _Repair(repository, issue, asker, plan, tests, watch)
    report = RepairReport(
        repository=str(repository.root), model=asker.policy.name, seed=plan.seed, format=plan.format
    )
    found = work.files(given)
    ranges = work.lines([file.path for file in found])
    applied = work.edits(ranges)
    done: dict[str, object] = {
        "files": found,
        "lines": {path: None if spans is None else list(spans) for path, spans in ranges.items()},
        "samples": applied.samples,
    }
    if applied.edits:
        edits, more = _tested(work, applied, ranges)
        order, steps, decided = rerank(edits)
        for step in steps:
            watch.say(f"rerank: {step.rule}: {step.left} left")
        best = order[0]
        watch.say(
            f"chosen: an edit of {best.size} lines by {len(best.samples)} of {plan.samples} samples{passes(best)}; "
            f"decided by {decided}{why_not_most(order)}"
        )
        if best.broken:
            work.note(
                f"even the chosen edit breaks {len(best.broken)} tests that passed, such as {best.broken[0]}"
            )
        done |= {**more, "edits": order, "steps": steps, "decided_by": decided}
    return report.model_copy(update={**done, "notes": work.notes})


def _faults(applied: Applied) -> str:
    counts = Counter(sample.fault.partition(":")[0] for sample in applied.samples if sample.fault)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return f" ({', '.join(f'{n} {code}' for code, n in ordered)})" if ordered else ""


def _tested(
    work: _Repair, applied: Applied, ranges: lines_stage.Ranges
) -> tuple[list[Edit], Mapping[str, object]]:
    if work.tests is None:
        work.note("no tests are run; the majority decides")
        return applied.edits, {}
    bench = Bench(work.tests, applied, work.plan.test_seconds, work.plan.seed, work.watch, work.note)
    files = work.reproduction(ranges)
    edits = bench.regression()
    edits = bench.reproduction(edits, files)
    return edits, {"regression": bench.tests_kept, "reproduction": {f.path: f.text for f in bench.files_kept}}
