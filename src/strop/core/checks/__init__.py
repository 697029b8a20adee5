"""The kinds of checks: how an answer is judged. A kind is a class of this folder and a line of the union below."""

from typing import Annotated

from pydantic import Field

from strop.core.checks.asserts import AssertsCheck
from strop.core.checks.base import CheckBase
from strop.core.checks.cases import Case, CasesCheck
from strop.core.checks.command import CommandCheck, CommandStep
from strop.core.checks.edit import EditCheck
from strop.core.checks.label import LabelCheck
from strop.core.checks.next_edit import NextEditCheck, PastEdit
from strop.core.checks.none import NoneCheck
from strop.core.checks.retrieval import RetrievalCheck
from strop.core.checks.rust import RustCheck
from strop.core.checks.stdio import StdioCase, StdioCheck
from strop.core.checks.suites import ProjectCheck, PytestCheck, WorkspaceCheck
from strop.core.checks.terminal import TerminalCheck
from strop.core.checks.world import WorldCheck

__all__ = [
    "AssertsCheck", "Case", "CasesCheck", "Check", "CheckBase", "CommandCheck", "CommandStep", "EditCheck",
    "LabelCheck", "NextEditCheck", "NoneCheck", "PastEdit", "ProjectCheck", "PytestCheck", "RetrievalCheck",
    "RustCheck", "StdioCase", "StdioCheck", "TerminalCheck", "WorkspaceCheck", "WorldCheck",
]  # fmt: skip

Check = Annotated[
    CasesCheck
    | AssertsCheck
    | StdioCheck
    | PytestCheck
    | RustCheck
    | CommandCheck
    | LabelCheck
    | WorkspaceCheck
    | ProjectCheck
    | EditCheck
    | RetrievalCheck
    | TerminalCheck
    | NextEditCheck
    | WorldCheck
    | NoneCheck,
    Field(discriminator="kind"),
]
EditCheck.model_rebuild(_types_namespace={"Check": Check})
