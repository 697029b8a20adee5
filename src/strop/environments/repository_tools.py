"""The built-in tools of the environment `workspace`: run, read, search, edit, write, test, finish."""

import re
import shutil

from strop.environments.feedback import told
from strop.environments.task_tree import PACKAGES, Tree, answer_in, project_of, tree_of
from strop.environments.toolbox import Toolbox, relative_name, tool
from strop.tasks.public_tests import public_task, shows_tests
from strop_verify.core.play import Ran, Services
from strop_verify.core.task import Task
from strop_verify.edits.lines import split
from strop_verify.verification.project.layout import is_protected, layout_of

PAGE = 100
"""Maximum number of lines that `read` shows at once."""
LONGEST = 1 << 20
"""Maximum size in bytes of a file that can be read or edited."""
_MOST_NAMED = 200
"""Maximum number of tests that a command line names individually; beyond that, it names their files."""


class RepositoryTools(Toolbox):
    """Tools for a folder of source files. Paths are relative to it."""

    tell: bool | None = None
    """Whether `test` says what failed; None: if the task shows tests."""

    def __init__(self, task: Task, services: Services) -> None:
        super().__init__(task, services)
        self.before: Tree = tree_of(task)

    @tool(lines=40, seconds=20)
    def run(self, command: str) -> str:
        """Runs a shell command in the folder.

        Args:
            command: for /bin/sh; python, pytest, cargo and git are there
        """
        if not command.strip():
            raise ValueError("run: write a command")
        return self._shown(self.program(["/bin/sh", "-c", command]))

    @tool(lines=PAGE + 2)
    def read(self, path: str, start: int = 1) -> str:
        """Shows a file, or the names in a folder.

        Args:
            path: of a file or folder
            start: first line, from 1
        """
        name = relative_name(path)
        if name not in (there := self.folder.files()):
            return self._listed(name, list(there))
        lines = [line.rstrip("\r\n") for line in split(self._text(name))]
        first = max(1, start)
        page = lines[first - 1 : first - 1 + PAGE]
        if not page:
            raise ValueError(f"{name} has {len(lines)} lines")
        last = first + len(page) - 1
        more = "" if last == len(lines) else f", read on from {last + 1}"
        head = "" if first == 1 and not more else f"[lines {first} to {last} of {len(lines)}{more}]\n"
        return head + "\n".join(page)

    @tool(lines=40, seconds=10)
    def search(self, pattern: str, path: str = ".") -> str:
        """Finds lines in the files: a regular expression, or else a text.

        Args:
            pattern: of grep -E
            path: of a file or folder
        """
        if not pattern.strip():
            raise ValueError("search: write what to look for")
        grep = ["grep", "-rnI", "--exclude-dir=.?*", "--exclude-dir=target", "--exclude-dir=__pycache__"]
        where = ["--", relative_name(path) or "."]
        ran = self.program([*grep, "-E", "-e", pattern, *where])
        if ran.status == 2:
            ran = self.program([*grep, "-F", "-e", pattern, *where])
        if ran.status not in (0, 1):
            return self._shown(ran)
        found = sorted(ran.output.removesuffix("\n").split("\n"), key=lambda line: line.partition(":")[0])
        return "\n".join(line.removeprefix("./") for line in found) or "nothing found"

    @tool
    def edit(self, path: str, old: str, new: str) -> str:
        """Puts new text in the place of old text, which must be in the file once.

        Args:
            path: of a file
            old: its text, as it is there
            new: what stands there then
        """
        name = relative_name(path)
        text = self._text(name)
        count = text.count(old) if old else 0
        if count != 1:
            remedy = "copy it from the file" if not count else "take more lines with it"
            raise ValueError(f"edit: the old text is {count} times in {name}; {remedy}")
        self.folder.put({name: text.replace(old, new)})
        line = text.count("\n", 0, text.index(old)) + 1
        return f"edited {name}, line {line}{self._note(name)}"

    @tool
    def write(self, path: str, text: str) -> str:
        """Writes a whole file.

        Args:
            path: of a file, new or not
            text: all that it holds then
        """
        name = relative_name(path)
        whole = text if text.endswith("\n") or not text else text + "\n"
        self.folder.put({name: whole})
        return f"wrote {name}, {whole.count(chr(10))} lines{self._note(name)}"

    @tool(lines=40, seconds=60)
    def test(self) -> str:
        """Runs the tests that you may see."""
        if project_of(self.task) is None:
            task = public_task(self.task)
            verdict = self.services.verify(task, answer_in(self.task, self.before, self.folder)).result()
            said = told(self.task, verdict, self.tell)
            if not shows_tests(self.task) and not said:
                return "passed" if verdict.passed else "failed"
            return said or f"{len(verdict.tests)} passed"
        return self._cargo() if self.task.language == "rust" else self._pytest()

    def _pytest(self) -> str:
        public = project_of(public_task(self.task))
        judging = () if public is None else (*public.failing, *public.passing)
        names = [name for name in judging if name.partition("::")[0] in self.before]
        if not names:
            return "there are no tests here; run your own with run"
        if len(names) > _MOST_NAMED:
            names = sorted({name.partition("::")[0] for name in names})
        roots = ":".join([*(root or "." for root in layout_of(self.before).roots), PACKAGES])
        argv = ["python3", "-m", "pytest", "-q", "--tb=short", "--no-header", *names]
        return self._shown(self.program(argv, environment={"PYTHONPATH": roots}))

    def _cargo(self) -> str:
        cargo = ["cargo", "test", "--offline", "--quiet", "--lib", "--bins", "--tests"]
        if shutil.which("rustc") is None:
            return "there is no cargo on this machine"
        return self._shown(self.program(cargo))

    def _text(self, name: str) -> str:
        try:
            return self.folder.read(name, limit=LONGEST).decode()
        except UnicodeDecodeError:
            raise ValueError(f"{name} is not text") from None
        except FileNotFoundError:
            raise ValueError(f"there is no file {name}; search or read . shows what is there") from None

    def _listed(self, name: str, there: list[str]) -> str:
        """The files below a folder, without hidden ones and caches. Raises ValueError if there are none."""
        inside = [path for path in there if not name or path.startswith(f"{name}/")]
        if not inside:
            raise ValueError(f"there is no file {name}; read . shows what is there")
        return listing(inside)

    def _shown(self, ran: Ran) -> str:
        """A program's output, and how it ended unless it succeeded."""
        most = {"cpu": f" of {self._caps.seconds:g} s", "wall": f" of {3 * self._caps.seconds:g} s"}
        ended = (
            f"[{ran.expired} limit{most.get(ran.expired, '')}]" if ran.expired else f"[status {ran.status}]"
        )
        said = [ran.output.strip("\n"), ran.errors.strip("\n"), ended if ran.expired or ran.status else ""]
        return "\n".join(filter(None, said)) or "[no output]"

    def _note(self, name: str) -> str:
        kept = project_of(self.task) is not None and is_protected(name, self.task.language)
        return "; it belongs to the tests, so that does not count" if kept else ""


def listing(paths: list[str]) -> str:
    """Files by name, without hidden ones and caches."""
    return "\n".join(sorted(path for path in paths if not re.search(r"(^|/)(\.|__pycache__/|target/)", path)))
