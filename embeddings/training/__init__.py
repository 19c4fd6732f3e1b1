"""Training shared by all models: preparation, the multithreaded loop, checkpoints, callbacks and progress."""
