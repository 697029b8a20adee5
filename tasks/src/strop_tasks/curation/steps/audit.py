"""audit: drops tasks that `strop audit` finds unfit: cheatable, flaky, leaking, weakly tested. See docs/audit.md."""

from collections.abc import Iterator

from strop_tasks.curation.audit import AuditSettings, Code, TaskAudit, audit_tasks
from strop_tasks.curation.audit.record import AuditOptions
from strop_tasks.curation.engine.memory import Memory
from strop_tasks.curation.pipeline.step import Context, Dropped, Read, Step, drop
from strop_verify.core.task import Task


class AuditConfig(AuditOptions):
    """Settings of the step `audit`; docs/audit.md says what each code means."""

    quick: bool = True
    """Stop looking at a task after the stage that found something fatal."""
    strict: tuple[Code, ...] = ()
    """Codes that drop a task even as warnings."""


class Audit(Step[AuditConfig]):
    """Drops tasks with a fatal finding of the audit; counts the warnings of the others."""

    def run(self, read: Read, context: Context) -> Iterator[Task | Dropped]:
        """See `Step.run`. Remembers each task's audit."""
        with context.memory() as memory:
            open_tasks = (task for task in read() if not _known(task, memory))
            verifier, settings = context.verifier(), self._settings(context)
            audits = audit_tasks(open_tasks, verifier, settings, reseeded=context.reseeded)
            for done, audit in enumerate(audits, start=len(memory) + 1):
                memory[audit.task_id] = audit.model_dump(mode="json")
                context.progress(done, context.size)
            for task in read():
                yield self._decide(task, TaskAudit.model_validate(memory[task.id]), context)

    def _settings(self, context: Context) -> AuditSettings:
        given = self.config.model_dump(exclude={"strict"})
        box = context.sandbox
        return AuditSettings(**given, cpu_seconds=box.cpu_seconds, memory_bytes=box.memory_mb * 2**20)

    def _decide(self, task: Task, audit: TaskAudit, context: Context) -> Task | Dropped:
        fatal = [f for f in audit.findings if f.severity == "fatal" or f.code in self.config.strict]
        if not fatal:
            context.totals.update(f"warning {code}" for code in audit.codes)
            return task
        return drop(task, fatal[0].code, "; ".join(f"{f.code}: {f.text}" for f in fatal))


def _known(task: Task, memory: Memory) -> bool:
    """Whether the audit is decided; undecided ones are tried again."""
    found = memory.get(task.id, None)
    return found is not None and all(finding["code"] != "unverifiable" for finding in found["findings"])
