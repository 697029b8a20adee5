"""Rules of the house that no linter knows."""

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = [ROOT / place for place in ("verify/src/strop_verify", "src/strop", "tasks/src/strop_tasks")]
FILES = sorted(path for folder in PARTS for path in folder.rglob("*.py"))

MAY_START_PROCESSES = (f"{PARTS[0]}/sandbox/", f"{PARTS[1]}/launch/")


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module}
    return names


def test_only_some_may_start_processes() -> None:
    others = {path for path in FILES if not str(path).startswith(MAY_START_PROCESSES)}
    programs = {"subprocess", "pty", "pexpect"}
    named = [path for path in others if any(name in path.read_text(encoding="utf-8") for name in programs)]
    assert named and [path for path in named if imported(path) & programs] == []


def test_files_stay_short() -> None:
    assert [path for path in FILES if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []


def test_a_class_name_means_one_thing() -> None:
    """Two classes of one name are two words for a reader to tell apart; a private one is as well."""
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    counts = Counter(name for text in texts.values() for name in re.findall(r"^class (\w+)", text, re.M))
    suspects = "|".join(name for name, count in counts.items() if count > 1) or "$^"
    places: dict[str, list[str]] = {}
    for path, text in texts.items():
        for node in ast.parse(text).body if re.search(rf"^class ({suspects})\b", text, re.M) else ():
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_config_and_core_load_no_torch() -> None:
    code = (
        "import sys, strop, strop.config.load, strop.config.revision, strop_verify.core.protocols\n"
        "print(sorted({'torch', 'transformers', 'trl', 'vllm'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"


def test_import_strop_is_light() -> None:
    code = "import sys, strop, strop.config\n"
    code += "print(sorted({'pydantic', 'omegaconf', 'yaml', 'numpy'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"


def test_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text and "Version 2.0, January 2004" in text


def test_scripts_import_what_there_is() -> None:
    """No type checker reads benchmarks, examples and the scripts of the docs."""
    gone = []
    for path in sorted(
        path for place in ("benchmarks", "examples", "docs") for path in (ROOT / place).glob("*.py")
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0].startswith("strop"):
                module = importlib.import_module(str(node.module))
                for name in (alias.name for alias in node.names):
                    if not hasattr(module, name) and not find_spec(f"{node.module}.{name}"):
                        gone.append(f"{path.name}: {node.module}.{name}")
    assert gone == []
