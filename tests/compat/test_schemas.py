"""The command that writes the schemas."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.compat import schemas


def test_written_where_they_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schemas, "DIRECTORY", tmp_path)
    assert schemas.main(["--check"]) == 1
    assert list(tmp_path.iterdir()) == []
    assert schemas.main([]) == 0
    (tmp_path / "xid.schema.json").write_text("{}")
    capsys.readouterr()
    assert schemas.main(["--check"]) == 1
    assert capsys.readouterr().err == "xid.schema.json is out of date\n"
    assert schemas.main([]) == 0
    assert schemas.main(["--check"]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"matrix.schema.json", "gpus.schema.json", "xid.schema.json"}
