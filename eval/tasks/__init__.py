"""Kinds of evaluation, one module each: its test sets, its measure and its protocol."""
