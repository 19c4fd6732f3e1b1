"""Plugins of installed packages; the tests lay out packages as an installer does."""

import importlib.metadata
import os
import re
import sys

import pytest

import embeddings as em
from embeddings import registry
from embeddings.errors import EmbeddingsError, RegistryError


def test_builtin_plugins_are_entry_points():
    trainers = registry.find_all("trainer")
    assert {"cbow", "skipgram"} <= set(trainers)
    assert list(trainers) == sorted(trainers)
    assert registry.distribution_name(trainers["cbow"][0]) == "embeddings-toolkit"
    assert registry.load("trainer", "skipgram") is em.SkipGram
    assert set(registry.find_all("tokenizer")) >= {"words", "whitespace"}


def test_plugins_are_not_imported_to_list_them(install):
    before = set(registry.find_all("trainer"))
    install("alpha", "alpha = alpha_module:Alpha", "raise SystemError('imported')")
    assert set(registry.find_all("trainer")) == before | {"alpha"}


def test_the_class_of_a_trainer_is_an_attribute(install):
    install("beta", "beta-1 = beta_module:Beta", "class Beta: 'A trainer.'")
    assert registry.load("trainer", "beta-1").__doc__ == "A trainer."
    assert em.Beta is registry.load("trainer", "beta-1")
    assert "Beta" in dir(em)


def test_unknown_plugins_are_refused_with_the_installed_ones():
    with pytest.raises(RegistryError, match=r"'skipgran'.*cbow, .*skipgram") as error:
        registry.load("trainer", "skipgran")
    assert isinstance(error.value, EmbeddingsError | LookupError)


def test_a_name_provided_by_two_packages(install):
    install("gamma", "twin = gamma_module:Twin", "class Twin: pass")
    install("delta", "twin = delta_module:Twin", "class Twin: pass")
    with pytest.raises(RegistryError, match=r"'twin'.*delta and gamma.*uninstall"):
        registry.load("trainer", "twin")
    assert registry.load("trainer", "cbow") is em.CBOW


def test_two_versions_of_a_package_count_once(install):
    """As with an editable install next to an old one."""
    install("echo", "echo = echo_module:Echo", "class Echo: pass", version="1.0")
    install("echo", "echo = echo_module:Echo", "class Echo: pass", version="1.1")
    assert registry.load("trainer", "echo").__name__ == "Echo"


@pytest.mark.parametrize(
    ("module", "cause"),
    [
        ("import nothing_of_the_kind", "No module named 'nothing_of_the_kind'"),
        ("raise ValueError('bad day')", "bad day"),
        ("x = 1", "module 'broken_module' has no attribute 'Broken'"),
        ("def (", "invalid syntax|expected"),
    ],
)
def test_error_about_a_failed_import_has_package_and_cause(install, monkeypatch, module, cause):
    install("broken", "broken = broken_module:Broken", module)
    monkeypatch.delitem(__import__("sys").modules, "broken_module", raising=False)
    with pytest.raises(RegistryError, match=f"'broken' from broken.*({cause})") as error:
        registry.load("trainer", "broken")
    assert error.value.__cause__ is not None
    assert "broken" in registry.find_all("trainer")


def test_a_checkout_that_is_not_installed(tmp_path, python, root):
    """The package is on the path, but its metadata is not."""
    (tmp_path / "embeddings").symlink_to(root / "embeddings")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import embeddings.registry as registry
sys.path[:] = [entry for entry in sys.path if "site-packages" not in entry]
try:
    registry.load("trainer", "skipgram")
except registry.RegistryError as error:
    print(error)
"""
    assert re.search(r"'skipgram'.*none.*pip install -e \.", python("-c", code, cwd=tmp_path).stdout)


def test_metadata_is_read_again_only_after_a_change(tmp_path, monkeypatch):
    reads, read = [], importlib.metadata.entry_points
    monkeypatch.setattr(registry, "entry_points", lambda group: reads.append(group) or read(group=group))
    site = tmp_path / "site"
    site.mkdir()
    os.utime(site, (1, 1))
    # other tests write into the checkout meanwhile, which changes the times of its folders
    monkeypatch.setattr(sys, "path", [str(site), *(path for path in sys.path if path.endswith("site-packages"))])
    before = set(registry.find_all("trainer"))
    assert set(registry.find_all("trainer")) == before
    assert registry.find_all("tokenizer")
    assert reads == ["embeddings.trainers", "embeddings.tokenizers"]
    info = site / "golf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: golf\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[embeddings.trainers]\ngolf = golf_module:Golf\n")
    assert set(registry.find_all("trainer")) == before | {"golf"}
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(site)])
    assert set(registry.find_all("trainer")) == before
    assert len(reads) == 4
