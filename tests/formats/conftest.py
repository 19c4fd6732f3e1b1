import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of all examples of a property, each of which replaces the files of the one before."""
    return tmp_path_factory.mktemp("formats")
