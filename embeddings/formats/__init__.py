"""Vector files of other tools: one module a format."""
