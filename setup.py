"""What pyproject.toml cannot declare: a README whose links work on a package index, outside the repository."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def absolute_links(markdown: str, repository: str, revision: str) -> str:
    """Make links and images that are relative to the root of a repository absolute."""
    markdown = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|#)", rf"\1{repository}/raw/{revision}/", markdown)
    return re.sub(r"(?<!!)(\[[^\]]*\]\()(?![a-z]+:|#)", rf"\1{repository}/blob/{revision}/", markdown)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=absolute_links(readme, project["urls"]["Repository"], f"v{project['version']}"),
        long_description_content_type="text/markdown",
    )
