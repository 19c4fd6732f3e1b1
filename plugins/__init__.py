"""Trainers: one module or package per model."""
