"""Recall and speed of neighbour indexes."""

from embeddings.eval.index_quality.query_sets import QuerySet, random_query_set, sample_query_set
from embeddings.eval.index_quality.recall import IndexQuality, measure_indexes
from embeddings.eval.index_quality.search_grid import GRIDS

__all__ = ["GRIDS", "IndexQuality", "QuerySet", "measure_indexes", "random_query_set", "sample_query_set"]
