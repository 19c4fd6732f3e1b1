"""Names that are imported on first use, and libraries that are not installed."""

import sys

import pytest

from embeddings.errors import EmbeddingsError
from embeddings.support.imports import LazyModule, import_extra, lazy_getattr


def test_a_name_is_imported_on_first_use(monkeypatch, tmp_path):
    (tmp_path / "module_of_a_test.py").write_text("Thing = 5\n")
    monkeypatch.syspath_prepend(tmp_path)
    getattribute = lazy_getattr("package", {"Thing": "module_of_a_test"})
    assert "module_of_a_test" not in sys.modules
    assert getattribute("Thing") == 5
    with pytest.raises(AttributeError, match=r"^module 'package' has no attribute 'Other'$"):
        getattribute("Other")
    with pytest.raises(AttributeError, match=r"no attribute 'Word2Vec': use .*SkipGram"):
        getattribute("Word2Vec")
    del sys.modules["module_of_a_test"]


def test_a_module_is_imported_on_the_first_use_of_a_name(monkeypatch, tmp_path):
    (tmp_path / "package_of_a_test").mkdir()
    (tmp_path / "package_of_a_test" / "__init__.py").write_text("Thing = 5\n")
    (tmp_path / "package_of_a_test" / "part.py").write_text("Other = 6\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = LazyModule("package_of_a_test")
    assert "package_of_a_test" not in sys.modules
    assert module.Thing == 5
    assert module.part.Other == 6
    with pytest.raises(AttributeError, match=r"^module 'package_of_a_test' has no attribute 'Missing'$"):
        module.Missing  # noqa: B018


def test_a_missing_library_is_named_with_its_extra(monkeypatch, tmp_path):
    message = r"^a thing requires nobody_has_it, which is not installed: pip install 'embeddings-toolkit\[things\]'$"
    with pytest.raises(EmbeddingsError, match=message):
        import_extra("nobody_has_it.part", "things", "a thing")
    with pytest.raises(EmbeddingsError, match=r"not installed: build it$"):
        import_extra("nobody_has_it", None, "a thing", "build it")
    (tmp_path / "library_that_warns.py").write_text("import warnings\nwarnings.warn('old')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert import_extra("library_that_warns", "things", "a thing").__name__ == "library_that_warns"
