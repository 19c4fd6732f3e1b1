"""How well indexes find neighbours, and how fast."""

from embeddings.eval.neighbours.grids import GRIDS
from embeddings.eval.neighbours.points import Points, points_of, random_points
from embeddings.eval.neighbours.quality import Quality, compare

__all__ = ["GRIDS", "Points", "Quality", "compare", "points_of", "random_points"]
