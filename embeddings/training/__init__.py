"""Training as all models share it: what is prepared, the loop over threads, and how far it has come."""
