"""Objectives: what a model compares its prediction with, and the gradient and the loss that follow.

An objective has its tables, its compiled step, and the probabilities of words that it defines.
"""
