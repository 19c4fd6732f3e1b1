"""Log records."""

import logging

from embeddings.errors import S
from embeddings.support.logs import log


def test_log_records_are_printable(caplog, tmp_path):
    with caplog.at_level(logging.INFO, "embeddings"):
        log.info("wrote %s after %d words: %s", tmp_path / "a\x1bb", 5, OSError("c\rd"))
        log.info("e\x9bf")
        log.warning("set %s", S.pool("mean"))
    first, second, third = (record.getMessage() for record in caplog.records)
    assert first == f"wrote {tmp_path}/a\\x1bb after 5 words: c\\rd"
    assert second == r"e\x9bf"
    assert third == "set pool=mean"
    assert caplog.records[0].msg == "wrote %s after %d words: %s"
