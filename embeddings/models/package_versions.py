"""The versions of the packages that affect results."""

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("embeddings-toolkit", "numpy", "numba", "pyarrow")


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that affect training results."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
