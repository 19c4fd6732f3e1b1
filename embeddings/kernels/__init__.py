"""Compiled building blocks of the trainers."""
