"""The kinds of checks: how an answer is judged. A kind is a class in this folder plus a line in the union below, or a
class that a package adds by an entry point in `strop_verify.checks`.
"""

from typing import Annotated, Any, get_args

from pydantic import Field, SerializeAsAny, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

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
from strop_verify.core.registry import Registry, added

__all__ = [
    "CHECKS", "AssertsCheck", "Case", "CasesCheck", "Check", "CheckBase", "CommandCheck", "CommandStep", "EditCheck",
    "LabelCheck", "NextEditCheck", "NoneCheck", "PastEdit", "ProjectCheck", "PytestCheck", "RetrievalCheck",
    "RustCheck", "StdioCase", "StdioCheck", "TerminalCheck", "WorkspaceCheck", "WorldCheck",
]  # fmt: skip

_Own = Annotated[
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
_GROUP = "strop_verify.checks"
CHECKS: Registry[type[CheckBase]] = Registry(
    _GROUP,
    {kind.model_fields["kind"].default: kind for kind in get_args(get_args(_Own)[0])},
    fits=lambda found: isinstance(found, type) and issubclass(found, CheckBase),
)
"""The classes of checks by their kind."""


def _read(value: Any, own: ValidatorFunctionWrapHandler) -> CheckBase:
    """Validates a built-in check by the union, one from a package by its class. UserError if that does not load."""
    name = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    if isinstance(name, str) and name in added(_GROUP):
        return CHECKS[name].model_validate(value)
    if isinstance(name, str) and name not in CHECKS:
        text = CHECKS.unknown("kind of check", name)
        text = f"{text[:-1]}, and those of packages that are installed" if text.endswith(".") else text
        raise PydanticCustomError("no_such_kind", "{text}", {"text": text})
    return own(value)  # type: ignore[no-any-return]


# Serialised by its own class, without the union or Python code, in which pydantic swallows an interrupt.
Check = Annotated[_Own, WrapValidator(_read), SerializeAsAny()]
EditCheck.model_rebuild(_types_namespace={"Check": Check})
