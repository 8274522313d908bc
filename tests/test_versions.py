from __future__ import annotations

from importlib.metadata import PackageNotFoundError

from superopt import versions
from superopt.versions import version_of


def test_an_installed_package_has_its_version():
    assert version_of("sympy")[0].isdigit()


def test_what_is_missing_or_runs_from_source_is_a_word(monkeypatch):
    def none(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(versions, "version", none)
    assert version_of("superopt") == versions.SOURCE
    assert version_of("z3-solver") == versions.MISSING


def test_the_verifier_is_told_by_its_sources(monkeypatch):
    here = versions.verifier()
    assert here.startswith(f"superopt {version_of('superopt')}, sources ")
    assert here.endswith(f", z3 {version_of('z3-solver')}")
    monkeypatch.setattr(versions, "VERIFIER", ("ugraph",))
    versions.verifier.cache_clear()
    other = versions.verifier()
    monkeypatch.undo()
    versions.verifier.cache_clear()
    assert other != here == versions.verifier()
