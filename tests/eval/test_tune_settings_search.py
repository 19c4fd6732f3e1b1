"""The search space of tuning."""

import pytest
from parabola import TEXT, Parabola, judge

import embeddings as em
from embeddings.errors import SettingError
from embeddings.eval.tuning import tune
from embeddings.eval.tuning.tune_settings import search_space

optuna = pytest.importorskip("optuna", reason="optuna comes with the extra tune")


def test_what_is_varied():
    tuning = tune(Parabola(x=0.0, n=5), TEXT, metric=judge, trials=6, threads=1, fixed=["x", "kind"])
    assert all(set(trial.settings) == {"n"} for trial in tuning.trials)
    tuning = tune(Parabola(x=1.0), TEXT, metric=judge, trials=9, threads=1, vary=["n=5..9", "kind=a,b", "detail"])
    assert tuning.trials[0].settings == {"n": 1, "kind": "a", "detail": 0.5}  # the given ones, though out of range
    assert all(5 <= trial.settings["n"] <= 9 and trial.settings["kind"] in "ab" for trial in tuning.trials[1:])
    skipgram = em.SkipGram()
    assert search_space(skipgram, ["initializer=normal,xavier"])["initializer"].choices == ("normal", "xavier")
    assert search_space(skipgram, ["shrink-window=true,false"])["shrink_window"].choices == (True, False)
    assert search_space(skipgram, ["learning_rate=0.01..0.1"])["learning_rate"].log


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        ("windows", "has no setting 'windows'"),
        ("negatives", "negatives declares no range"),
        ("window=9..3", "the range of window is empty"),
        ("window=0..3", "window must be"),
        ("window=a..b", "window must be an integer"),
        ("initializer=normal..xavier", "range of initializer.*numbers"),
        ("initializer=normal,round", "initializer must be one of"),
    ],
)
def test_ranges_are_checked(vary, message):
    with pytest.raises(SettingError, match=message):
        search_space(em.SkipGram(), [vary])
    with pytest.raises(SettingError, match="left to tune"):
        search_space(Parabola(), [], ["x", "n", "kind", "detail"])
