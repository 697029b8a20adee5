"""Without the extra `similarity` everything works but the published rewards, which say what to install."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.without import without

from strop.rewards.rubric import BUILTIN
from strop_tasks.published import rewards
from strop_tasks.published.edits import BY_DIFFLIB
from strop_tasks.published.ratio import PACKAGES


def python(tmp_path: Path, code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code], env=without(tmp_path / "site", *PACKAGES),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_the_names_are_those_that_use_difflib() -> None:
    assert set(rewards.PUBLISHED) > BY_DIFFLIB and not BY_DIFFLIB & set(BUILTIN)
    assert {
        "sr_diff_similarity", "published_swe_rl", "published_swe_rl_unidiff", "published_sr_diff_similarity",
        "published_unified_diff_similarity",
    } == BY_DIFFLIB  # fmt: skip


def test_other_rewards_need_nothing(tmp_path: Path) -> None:
    code = (
        "from strop.rewards.rubric import BUILTIN, WeightedRubric\n"
        "from strop_tasks.published.rewards import PUBLISHED\n"
        "from strop_tasks.published.edits import BY_DIFFLIB\nimport strop_tasks.curation.edits.file_pairs\n"
        "WeightedRubric.from_names([(n, 1.0) for n in (*BUILTIN, *PUBLISHED) if n not in BY_DIFFLIB])\n"
        "from strop_verify.core.checks import EditCheck\nfrom strop.rewards.edits import edit_similarity\n"
        "from strop_tasks.published.swe_rl import search_replace_reward\n"
        "edit = EditCheck(format='whole-file', files={'a': 'x = 1\\n'}, oracle={'a': 'x = 2\\n'})\n"
        "print(edit_similarity(edit, 'x = 2\\n'))"
    )
    done = python(tmp_path, code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(BY_DIFFLIB))
def test_a_published_reward_says_what_to_install(name: str, tmp_path: Path) -> None:
    code = (
        "from strop_verify.core.errors import UserError\nfrom strop.rewards.rubric import find_reward\n"
        f"try: find_reward({name!r})\nexcept UserError as error: print(error)"
    )
    done = python(tmp_path, code)
    assert done.stdout == (
        f"the reward '{name}' needs the package 'cydifflib', which is not installed: pip install 'strop[similarity]'\n"
    ), done.stderr


def test_a_number_asked_for_in_python_says_it_too(tmp_path: Path) -> None:
    done = python(tmp_path, "from strop_tasks.published.ratio import ratio\nratio('a', 'b', autojunk=False)")
    assert "difflib's ratio needs the package 'difflib-fast'" in done.stderr
    assert "pip install 'strop[similarity]'" in done.stderr
