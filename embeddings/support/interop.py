"""A mixin that supports pickling, and use as a scikit-learn parameter."""

from typing import Any, ClassVar, Self


class InteropMixin:
    """Pickles without cached attributes, and is shared rather than copied when scikit-learn clones an estimator.

    `CACHED_ATTRIBUTES` are recomputed on first use after unpickling.
    """

    CACHED_ATTRIBUTES: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self.CACHED_ATTRIBUTES}

    def __sklearn_clone__(self) -> Self:
        return self  # estimators do not change vectors or models, and a copy can be large
