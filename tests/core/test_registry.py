"""Plugins as packages offer them: made here as folders on the path, as an installer would leave them."""

import importlib.metadata

import pytest

import embeddings as em
from embeddings import registry
from embeddings.errors import EmbeddingsError, RegistryError


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay out a package: its metadata, and a module of its own."""

    def lay(name, entries, module="", version="1.0", group="embeddings.trainers"):
        site = tmp_path / f"site-{name}-{version}"
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{entries}\n")
        if module:
            (site / f"{name}_module.py").write_text(module)
        monkeypatch.syspath_prepend(site)
        return site

    return lay


def test_ours_come_through_the_same_door():
    found = registry.find_all("trainer")
    assert {"cbow", "skipgram"} <= set(found)
    assert list(found) == sorted(found)
    assert registry.distribution_name(found["cbow"][0]) == "embeddings-toolkit"
    assert registry.load("trainer", "skipgram") is em.SkipGram
    assert set(registry.find_all("tokenizer")) >= {"words", "whitespace"}


def test_a_stranger_is_found_at_once_and_not_imported_until_asked_for(install):
    before = set(registry.find_all("trainer"))
    install("alpha", "alpha = alpha_module:Alpha", "raise SystemError('imported')")
    assert set(registry.find_all("trainer")) == before | {"alpha"}


def test_a_stranger_is_loaded_and_is_an_attribute(install):
    install("beta", "beta-1 = beta_module:Beta", "class Beta: 'A trainer.'")
    assert registry.load("trainer", "beta-1").__doc__ == "A trainer."
    assert em.Beta is registry.load("trainer", "beta-1")
    assert "Beta" in dir(em)


def test_unknown_is_told_with_those_there_are():
    with pytest.raises(RegistryError, match=r"^no trainer called 'skipgran'; installed: .*cbow, .*skipgram") as error:
        registry.load("trainer", "skipgran")
    assert isinstance(error.value, EmbeddingsError | LookupError)


def test_offered_by_two_packages(install):
    install("gamma", "twin = gamma_module:Twin", "class Twin: pass")
    install("delta", "twin = delta_module:Twin", "class Twin: pass")
    with pytest.raises(RegistryError, match=r"^trainer 'twin' is offered by delta and gamma; uninstall one$"):
        registry.load("trainer", "twin")
    assert registry.load("trainer", "cbow") is em.CBOW


def test_a_name_of_ours_cannot_be_taken_in_silence(install):
    install("thief", "skipgram = thief_module:SkipGram", "class SkipGram: pass")
    with pytest.raises(RegistryError, match="'skipgram' is offered by embeddings-toolkit and thief; uninstall one"):
        em.train("skipgram", [["a"]])


def test_the_same_package_seen_twice_is_one(install):
    """As with an editable install beside an old one."""
    install("echo", "echo = echo_module:Echo", "class Echo: pass", version="1.0")
    install("echo", "echo = echo_module:Echo", "class Echo: pass", version="1.1")
    assert registry.load("trainer", "echo").__name__ == "Echo"


def test_an_entry_that_stands_twice_in_a_package_is_one(install):
    install("foxtrot", "fox = foxtrot_module:Fox\nfox = foxtrot_module:Fox", "class Fox: pass")
    assert registry.load("trainer", "fox").__name__ == "Fox"


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("import nothing_of_the_kind", "No module named 'nothing_of_the_kind'"),
        ("raise ValueError('bad day')", "bad day"),
        ("x = 1", "module 'broken_module' has no attribute 'Broken'"),
        ("def (", "invalid syntax|expected"),
    ],
)
def test_a_broken_import_names_the_package_and_keeps_the_cause(install, monkeypatch, module, told):
    install("broken", "broken = broken_module:Broken", module)
    monkeypatch.delitem(__import__("sys").modules, "broken_module", raising=False)
    with pytest.raises(RegistryError, match=f"^trainer 'broken' from broken does not load: .*({told})") as error:
        registry.load("trainer", "broken")
    assert error.value.__cause__ is not None
    assert "broken" in registry.find_all("trainer")


def test_nothing_installed_says_how(tmp_path, python, root):
    """A checkout that was never installed: the package is on the path, its metadata is not."""
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
    found = python("-c", code, cwd=tmp_path)
    assert found.stdout == (
        "no trainer called 'skipgram'; installed: none; from a checkout, install first: pip install -e .\n"
    )


def test_entries_without_a_distribution_have_no_name():
    entry = importlib.metadata.EntryPoint("a", "b:C", "embeddings.trainers")
    assert registry.distribution_name(entry) == "an unnamed package"
