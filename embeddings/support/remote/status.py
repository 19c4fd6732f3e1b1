"""What is known of a remote file before it is read."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteStatus:
    """The size in bytes, None if unknown; the time of modification and the ETag, "" if unknown.

    has_ranges: whether parts of the file can be read.
    """

    size: int | None
    modified: str
    tag: str
    has_ranges: bool = True

    @property
    def identity(self) -> list[int | str | None]:
        """What changes with the content."""
        return [self.size, self.modified, self.tag]
