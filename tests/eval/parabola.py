"""A trainer whose scores are known, for searches of settings."""

from dataclasses import dataclass

from embeddings.errors import SettingError
from embeddings.eval.tuning import Judgement
from embeddings.settings import SearchRange, Settings, option
from embeddings.training.trainer import Trainer

TEXT = ["the cat sat on the mat", "the dog sat on the log"] * 20
NAMES = ["cat", "kitty", *(f"thing{n}" for n in range(1, 9))]


@dataclass(frozen=True, kw_only=True)
class Parabola(Trainer, Settings):
    """ "Learns" its settings, so that scores are known."""

    trainer_name = "parabola"
    accepts_run_options = False
    x: float = option(0.0, "x.", ge=-5, le=5, search=SearchRange(-5, 5))
    n: int = option(1, "n.", ge=1, search=SearchRange(1, 1000, log=True))
    kind: str = option("a", "kind.", search=SearchRange(choices=("a", "b", "none")))
    detail: float = option(0.5, "detail.", search=SearchRange(0, 1, requires="x"))
    untouched: int = option(7, "untouched.")

    def learn(self, data):
        if self.kind == "none":
            raise SettingError("kind none learns nothing")
        assert self.untouched == 7
        return self


def judge(model):
    return Judgement(-((model.x - 2) ** 2) - abs(model.n - 30) / 100 - (model.kind == "b"), model, {"size": model.n})
