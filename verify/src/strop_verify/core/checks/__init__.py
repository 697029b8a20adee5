"""The kinds of checks: how an answer is judged. A kind is a class of this folder and a line of the union below."""

from typing import Annotated

from pydantic import Field

from strop_verify.core.checks.asserts import AssertsCheck
from strop_verify.core.checks.base import CheckBase
from strop_verify.core.checks.cases import Case, CasesCheck, StdioCase, StdioCheck
from strop_verify.core.checks.comparison import (
    EditCheck,
    LabelCheck,
    NextEditCheck,
    NoneCheck,
    PastEdit,
    RetrievalCheck,
    WorldCheck,
)
from strop_verify.core.checks.programs import CommandCheck, CommandStep, RustCheck, TerminalCheck
from strop_verify.core.checks.suites import ProjectCheck, PytestCheck, WorkspaceCheck

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
