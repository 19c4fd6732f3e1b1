"""The studies that `study.py` runs: each declares its options, cells, measurements and table."""
