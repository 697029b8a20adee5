"""`strop attack`: hostile answers against the grader that training uses, or against another grader."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from strop.attack.foreign_tasks import ForeignTasks, attack_tasks
from strop.cli.options import grouped, say
from strop_verify.core.errors import SandboxError, UserError

if TYPE_CHECKING:
    from strop_verify.attacks.bench import Row
    from strop_verify.attacks.canary import Canaries
    from strop_verify.attacks.generate import Payload
    from strop_verify.attacks.grader import Grader
    from strop_verify.attacks.suite import Attack, Trial


@dataclass(frozen=True)
class ChosenAttacks:
    """Which attacks are tried, and in which jails."""

    language: Annotated[str | None, Option(help="only attacks in this language")] = None
    family: Annotated[str | None, Option(help="only attacks of this family")] = None
    name: Annotated[str | None, Option(help="only the attack with this name")] = None
    jail: Annotated[
        list[str] | None,
        Option(help="jail configuration, repeatable; default: all that work on this machine"),
    ] = None
    answers: Annotated[Path | None, Option(help="folder of *.jsonl with other tasks and hostile answers")] = (
        None
    )
    generate: Annotated[
        int | None, Option(min=1, metavar="N", help="N attacks composed by a grammar instead of the suite")
    ] = None
    seed: Annotated[int, Option(min=0, help="seed of the attacks that --generate composes")] = 0
    keep: Annotated[
        Path | None,
        Option(help="folder for minimized exploits that --generate finds, readable by --answers"),
    ] = None
    grader: Annotated[
        str | None,
        Option(metavar="NAME|MODULE:CALLABLE", help="compare with another grader; known names run in a jail"),
    ] = None
    grader_at: Annotated[
        Path | None,
        Option(
            help="location of the known grader or of verifiers: a checkout, or another environment's packages"
        ),
    ] = None
    yes: Annotated[bool, Option("--yes", help="let the other grader run hostile code")] = False
    grace: Annotated[
        float,
        Option(min=0.0, help="seconds past its deadline that a verdict may take; more on a busy machine"),
    ] = 1.0


@grouped
def attack(
    wanted: ChosenAttacks,
    theirs: ForeignTasks,
    json_file: Annotated[Path | None, Option("--json", help="file for counts and rows")] = None,
    table_file: Annotated[Path | None, Option("--table", help="file for a Markdown table")] = None,
    listing: Annotated[bool, Option("--list", help="list the attacks without running them")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="one line for every attack")] = False,
) -> None:
    """Try to cheat the grader, escape the jail and outlive it.

    The exit code is 0 only if no attack succeeded, every honest answer passed and nothing was left over. With --harbor
    or --verifiers: only if no task pays a cheat, and every task pays its own solution.
    """
    from strop_verify.attacks.canary import Canaries
    from strop_verify.attacks.grader import Foreign
    from strop_verify.attacks.known import JailedGrader
    from strop_verify.attacks.suite import choose, load_suite

    _refuse_mixed(wanted, theirs, listing, table_file)
    only = {"language": wanted.language, "family": wanted.family, "name": wanted.name}
    chosen = [] if wanted.answers or wanted.generate or theirs.asked else choose(load_suite(), **only)
    if listing:
        return _list(chosen)
    _refuse_early(wanted, theirs, [f for f in (json_file, table_file) if f])
    if theirs.asked:
        return attack_tasks(theirs, wanted.name, wanted.jail, wanted.grader_at, json_file)
    jails, grader = _jails(wanted.jail), wanted.grader
    known = JailedGrader(grader, wanted.grader_at) if grader is not None and _is_known(grader) else None
    with Canaries() as canaries:
        made: dict[str, Payload] = {}
        trials = _trials(canaries, chosen, wanted, made)
        graders: list[Grader] = [_ours(jail) for jail in jails]
        if known is not None:
            trials, graders = _fitting(known.name, trials, canaries), [graders[-1], known]
            known.prepare(trials)
        elif grader is not None:
            say(f"warning: {grader} runs hostile code with your rights, without a jail")
            trials = [one for one in trials if one.harmless]
            graders = [graders[-1], Foreign(grader)]
        rows = [row for each in graders for row in _run(each, trials, canaries, wanted.grace)]
        if wanted.keep is not None:
            from strop_verify.attacks.generate import keep

            found = [(row, made[row.attack]) for row in rows if row.exploits and row.attack in made]
            keep(wanted.keep, found, graders, trials, canaries, wanted.grace)
    ours = [row for row in rows if row.jail != grader]
    _write(rows, ours, chosen, (json_file, table_file))
    _report(rows, ours, verbose)


def _refuse_mixed(wanted: ChosenAttacks, theirs: ForeignTasks, listing: bool, table: Path | None) -> None:
    """Raises UserError for options that do not apply to composed attacks or to tasks of others, and for options that
    apply only to them."""
    others = {
        "--answers": wanted.answers, "--grader": wanted.grader, "--family": wanted.family, "--list": listing or None,
        "--table": table,
    }  # fmt: skip
    for whose, attacks, more in (
        (wanted.generate, "--generate composes its own attacks for this grader", {"--name": wanted.name}),
        (
            theirs.asked,
            f"{theirs.asked} has its own attacks",
            {"--generate": wanted.generate, "--language": wanted.language},
        ),
    ):
        for what, value in {**others, **more}.items():
            if whose and value is not None:
                raise UserError(f"{attacks}; remove {what}")
    for what, given in (("--seed", wanted.seed), ("--keep", wanted.keep)):
        if given and not wanted.generate:
            raise UserError(f"{what} belongs to --generate N; add that, or remove {what}")
    theirs.refuse_mixed()


def _refuse_early(wanted: ChosenAttacks, theirs: ForeignTasks, files: Sequence[Path]) -> None:
    for path in files:
        if not path.parent.is_dir() or path.is_dir():
            raise UserError(f"cannot write {path}: its folder does not exist, or it is a folder itself")
    known = wanted.grader and _is_known(wanted.grader)
    if wanted.grader_at is not None and not (known or theirs.verifiers):
        raise UserError(
            "--grader-at belongs to a grader known by name; add --grader NAME, or --verifiers PACKAGE"
        )
    if wanted.grader is not None and not wanted.yes and not _is_known(wanted.grader):
        raise UserError(
            f"--grader {wanted.grader} runs hostile code with your rights, without a jail; only attacks marked "
            "harmless are run, but a mistake in one can still do harm: use a disposable machine, and add --yes"
        )


def _is_known(grader: str) -> bool:
    """Whether the grader is one of `strop_verify.attacks.known`. Raises UserError for an unknown name."""
    from strop_verify.attacks.known import KNOWN

    if ":" not in grader and grader not in KNOWN:
        raise UserError(
            f"--grader {grader!r} is not of the form module:callable; known names: {', '.join(KNOWN)}"
        )
    return grader in KNOWN


def _fitting(name: str, trials: "list[Trial]", canaries: "Canaries") -> "list[Trial]":
    """The trials that the grader can judge. Raises UserError if none of the chosen attacks fits it."""
    from strop_verify.attacks.known import fitting
    from strop_verify.attacks.tasks import build

    found = fitting(name, trials, build(canaries.secret))
    if not found:
        raise UserError(
            f"--grader {name}: none of the attacks fits what it judges; remove --name or --family"
        )
    return found


def _trials(
    canaries: "Canaries", chosen: "Sequence[Attack]", wanted: ChosenAttacks, made: "dict[str, Payload]"
) -> "list[Trial]":
    """The attacks to try; `made` collects the composed ones by name."""
    from strop.attack.answers import load_answers
    from strop_verify.attacks.generate import LANGUAGES, generate
    from strop_verify.attacks.suite import trial
    from strop_verify.attacks.tasks import build

    answers, language, name = wanted.answers, wanted.language, wanted.name
    if wanted.generate:
        if language not in (None, *LANGUAGES):
            raise UserError(f"--generate has no grammar for {language!r}; known: {', '.join(LANGUAGES)}")
        drawn = list(
            generate(
                wanted.generate,
                wanted.seed,
                build(canaries.secret, canaries.folder),
                canaries.facts,
                language,
            )
        )
        made.update({payload.name: payload for _, payload in drawn})
        return [one for one, _ in drawn]
    if answers is None:
        tasks, facts = build(canaries.secret, canaries.folder), canaries.facts
        return [trial(one, tasks, facts) for one in chosen]
    given = [t for t in load_answers(answers) if language in (None, t.language) and name in (None, t.name)]
    if not given:
        raise UserError(f"--answers {answers}: no answer of language {language} and name {name}")
    return given


def _jails(asked: list[str] | None) -> list[str]:
    from strop_verify.sandbox import jail_names
    from strop_verify.sandbox.jails import choose

    offered = jail_names()
    if not offered:
        raise SandboxError("no jail works on this machine; see `strop doctor`")
    if not asked or "all" in asked:
        return offered
    names = [choose().name if one == "auto" else one for one in asked]
    for one in names:
        if one not in offered:
            raise UserError(
                f"--jail {one!r} does not work on this machine; available: all, auto, {', '.join(offered)}"
            )
    return list(dict.fromkeys(names))


def _ours(jail: str) -> "Grader":
    from strop.attack.plays import played
    from strop_verify.attacks.grader import LIMITS, StropGrader
    from strop_verify.verification import open_verifier

    return StropGrader(jail, lambda: open_verifier(workers=1, limits=LIMITS, jail=jail), player=played)


def _run(grader: "Grader", trials: "list[Trial]", canaries: "Canaries", grace: float) -> "list[Row]":
    from strop.reports.terminal.progress import Progress
    from strop_verify.attacks.bench import run

    with Progress(f"held, {grader.name}", len(trials)) as progress:
        return run(grader, trials, canaries, lambda row: progress.step(row.good), grace)


def _write(
    rows: "list[Row]", ours: "list[Row]", chosen: "Sequence[Attack]", paths: tuple[Path | None, Path | None]
) -> None:
    from strop.attack.table import markdown
    from strop_verify.attacks.bench import counts
    from strop_verify.core import files

    report: dict[str, Any] = {**counts(ours), "rows": [asdict(row) for row in rows]}
    if len(ours) < len(rows):
        report["foreign"] = counts(row for row in rows if row not in ours)
    for path, text in zip(paths, (json.dumps(report, indent=1) + "\n", markdown(rows, chosen)), strict=True):
        if path is not None:
            with files.atomic(path) as file:
                file.write(text.encode("utf-8", "backslashreplace"))


def _report(rows: "list[Row]", ours: "list[Row]", verbose: bool) -> None:
    from strop.attack.table import compared, console, details, overview
    from strop_verify.attacks.bench import counts

    out = console()
    bad = [r for r in rows if not r.good]
    if verbose or bad:
        out.print(details(rows if verbose else bad))
    out.print(overview(rows))
    theirs = [r for r in rows if r not in ours]
    if theirs:
        out.print(compared(ours, theirs))
    print(", ".join(f"{count} {what.replace('_', ' ')}" for what, count in counts(ours).items()))
    if any(not r.good for r in ours):
        raise Exit(1)


def _list(chosen: "Sequence[Attack]") -> None:
    from rich.table import Table

    from strop.attack.table import console

    table = Table("attack", "family", "task", "stopped by", "tries", header_style="bold")
    for one in chosen:
        table.add_row(one.id, one.family, one.task, one.layer, one.tries)
    console().print(table)
    print(f"{len(chosen)} attacks")
