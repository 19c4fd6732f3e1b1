"""Our trainers beside other tools, on one corpus with the same settings: see `embeddings.eval.benchmark.runner`.

Nothing is imported here: what the measured processes import counts against the tool they run.
"""
