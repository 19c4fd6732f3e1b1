"""Benchmark of our trainers against other tools, on one corpus with the same settings: `runner` runs it.

Nothing is imported here: imports count towards the measured time of the tools.
"""
