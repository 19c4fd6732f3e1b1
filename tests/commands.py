"""The command `embeddings` in the process of the tests."""

from click.testing import CliRunner, Result

from embeddings.cli import main


def run(*args: object) -> Result:
    """What came of it, however it ended."""
    return CliRunner().invoke(main, [*map(str, args)])


def expect(*args: object, code: int = 0) -> Result:
    """The same; it must end with this exit status."""
    done = run(*args)
    assert done.exit_code == code, done.output
    return done
