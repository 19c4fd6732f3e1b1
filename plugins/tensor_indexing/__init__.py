"""Composition of two-word phrases: functions from word vectors x and y to the phrase's vector z, fitted and applied.

Tensor indexing (Zhao, Liu and Sun 2015) and the functions of its comparison. Word vectors do not change.
"""
