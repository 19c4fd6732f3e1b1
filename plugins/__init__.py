"""The trainers, one file a model."""
