"""Which files of a folder do not belong to a corpus."""

SPARK_FILES = {"_SUCCESS", "_metadata", "_common_metadata", "_temporary"}  # records of Spark and of other writers
SPARK_PREFIXES = ("_started_", "_committed_")


def is_hidden(name: str) -> bool:
    """Whether a file or folder in the folder of a corpus is not a part of it: hidden, or a record of Spark's own."""
    return name.startswith((".", *SPARK_PREFIXES)) or name in SPARK_FILES
