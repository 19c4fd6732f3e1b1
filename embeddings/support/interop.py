"""A mixin for pickling, for use as a scikit-learn parameter, and for users of other tools' attribute names."""

from typing import Any, ClassVar, Self

from embeddings.setting_names import AdvisesOnNames


class InteropMixin(AdvisesOnNames):
    """Pickles without cached attributes, and is shared rather than copied when scikit-learn clones an estimator.

    `CACHED_ATTRIBUTES` are recomputed on first use after unpickling.
    """

    CACHED_ATTRIBUTES: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self.CACHED_ATTRIBUTES}

    def __sklearn_clone__(self) -> Self:
        return self  # estimators do not change vectors or models, and a copy can be large
