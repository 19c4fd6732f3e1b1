"""Cache folders are private, and those that other users could have written to are found."""

import os
import stat

import pytest

from embeddings.support import cache_folder
from embeddings.support.cache_folder import foreign_access

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners and modes")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The root of the cache, which does not exist yet, in a folder that others can enter."""
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / "new" / "cache"))
    tmp_path.chmod(0o755)
    return tmp_path / "new" / "cache"


@pytest.fixture
def kernel(root):
    """The cache folder of a kernel that others can read, with a file."""
    folder = cache_folder.cache_folder("kernels", "kernel", "1")
    (folder / "code").write_bytes(b"")
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    return folder


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_new_folders_are_private(root, umask):
    before = os.umask(umask)
    try:
        folder = cache_folder.cache_folder("kernels", "kernel", "1")
    finally:
        os.umask(before)
    created = [folder, *folder.parents[:4]]
    assert created[-1] == root.parent
    assert {stat.S_IMODE(path.stat().st_mode) for path in created} == {0o700}
    assert foreign_access(folder) is None


def test_a_folder_that_others_can_only_read_is_used(kernel):
    assert foreign_access(kernel) is None


@pytest.mark.parametrize("place", ["", "kernels", "kernels/kernel", "kernels/kernel/1", "kernels/kernel/1/code"])
@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_what_others_can_write_to_is_found(root, kernel, place, mode):
    (root / place).chmod(mode)
    if (place, mode) == ("", 0o1777):  # such as /tmp, where nobody can replace the folders of others
        assert foreign_access(kernel) is None
    else:
        message = f"other users can write to {root / place}; if you trust them, run `chmod -R go-w {root}`, else set "
        assert foreign_access(kernel) == message + "EMBEDDINGS_CACHE to another folder"


def test_a_folder_that_others_cannot_enter_protects_its_content(root, kernel):
    (kernel / "code").chmod(0o664)  # as numba writes it if the umask is 002
    assert foreign_access(kernel) is not None
    root.chmod(0o700)
    assert foreign_access(kernel) is None


def own_by_another(monkeypatch, paths):
    """Let these paths belong to another user."""
    path_type, numbers = type(paths[0]), {path.stat().st_ino for path in paths}
    real = path_type.stat

    def stat_of(self, **options):
        status = list(real(self, **options))
        return os.stat_result([*status[:4], 4321 if status[1] in numbers else status[4], *status[5:]])

    monkeypatch.setattr(path_type, "stat", stat_of)


@pytest.mark.parametrize("place", ["", "kernels", "kernels/kernel/1", "kernels/kernel/1/code"])
def test_what_belongs_to_another_user_is_found(root, kernel, place, monkeypatch):
    root.chmod(0o700)  # does not help
    own_by_another(monkeypatch, [root / place])
    expected = f"{root / place} belongs to another user; remove it, or set EMBEDDINGS_CACHE to a folder of your own"
    assert foreign_access(kernel) == expected


def test_the_prepared_cache_of_a_container_is_trusted(kernel, monkeypatch):
    """It belongs to root, and the program runs as another user."""
    monkeypatch.setattr(cache_folder, "ROOT_USER", os.getuid())
    monkeypatch.setattr(os, "getuid", lambda: 4321)
    assert foreign_access(kernel) is None


def test_windows_has_no_owners(root, kernel, monkeypatch):
    kernel.chmod(0o777)
    monkeypatch.delattr(os, "getuid")
    assert foreign_access(kernel) is None
