"""How well indexes find neighbours, and how fast."""

from embeddings.eval.index_quality.recall import Quality, compare
from embeddings.eval.index_quality.search_grid import GRIDS
from embeddings.eval.index_quality.test_points import Points, points_of, random_points

__all__ = ["GRIDS", "Points", "Quality", "compare", "points_of", "random_points"]
