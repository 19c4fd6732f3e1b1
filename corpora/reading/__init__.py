"""Sources to lines of text: files, folders, tables, compressed or not, and Python iterables."""
