"""A compilation is announced once, counted, and free of garbage collection; a cache that is missing is a warning."""

import gc
import logging
from types import SimpleNamespace

import numpy as np
import pytest

from embeddings.compilation import machine_code_cache
from embeddings.compilation.compile_monitor import CompileMonitor, kernel_owner, monitor
from embeddings.compilation.compile_time import compile_time
from embeddings.compilation.jit import entry_point
from embeddings.support import logs


def new_kernel():
    @entry_point
    def add(x):
        return x + 1

    return add


@pytest.fixture
def notices(monkeypatch, tmp_path):
    """Lines that are printed, while the cache of compiled code is empty."""
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    folder = machine_code_cache.prepare_cache_folder.__wrapped__
    monkeypatch.setattr(machine_code_cache, "prepare_cache_folder", folder)
    lines = []
    monkeypatch.setattr(logs, "displays", [SimpleNamespace(notice=lines.append)])
    monkeypatch.setattr(monitor, "logged", set())
    return lines


def test_a_compilation_is_announced_once_and_counted(notices):
    before, kernel = compile_time.seconds, new_kernel()
    kernel(np.int64(1))
    kernel(np.float64(1))
    assert len(notices) == 1
    assert "compiling" in notices[0]
    assert __name__ in notices[0]
    assert compile_time.seconds > before


class Event:
    """As numba reports a compilation of this function."""

    def __init__(self):
        self.data = {"dispatcher": type("Dispatcher", (), {"py_func": staticmethod(new_kernel)})}


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_pauses_until_the_outermost_compilation_ends(notices, enabled):
    own = CompileMonitor()
    (gc.enable if enabled else gc.disable)()
    try:
        own.on_start(Event())
        own.on_start(Event())
        assert not gc.isenabled()
        own.on_end(Event())
        assert not gc.isenabled()
        own.on_end(Event())
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_a_missing_cache_is_a_warning_with_the_remedy(notices, tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "file" / "cache"))
    with caplog.at_level(logging.WARNING, "embeddings"):
        CompileMonitor().on_start(Event())
        gc.enable()
    assert "EMBEDDINGS_CACHE" in caplog.text


def test_owners_are_named_in_the_words_of_users():
    assert kernel_owner("embeddings.plugins.structured_skipgram") == "structured-skipgram"
    assert kernel_owner("embeddings.plugins.sembei.sembei") == "sembei"
    assert "another.package" in kernel_owner("another.package")
