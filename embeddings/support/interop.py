"""How vectors and models behave as guests: in notebooks, under pickle, and in scikit-learn's parameters."""

from typing import Any, ClassVar, Self


class Guest:
    """Shown as a table by a notebook, and the same object when scikit-learn clones what holds it.

    `MADE` are attributes that are made at the first use, and again after a pickle: nothing is lost without them.
    """

    MADE: ClassVar[tuple[str, ...]] = ()

    def _repr_html_(self) -> str:
        from embeddings.models.notebook import shown

        return shown(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self.MADE}

    def __sklearn_clone__(self) -> Self:
        return self  # no estimator changes vectors or models, and a copy could be large
