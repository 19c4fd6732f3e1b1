"""Interpolation with the additive function, and the share chosen on dev phrases."""

import numpy as np
import pytest
from composition_data import synthetic_phrases
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.errors import SettingError
from embeddings.plugins.tensor_indexing.fitting import SHARES, additive_scale, best_share, blend
from embeddings.plugins.tensor_indexing.functions import PhraseVectors, tensor_indexing


def random_parameters(seed, rank=2, dim=4):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(1 + rank, dim, dim)) for name in ("left", "right")} | {
        "identity": rng.normal(size=2)
    }


def part(seed, n=40, dim=4):
    return PhraseVectors(*np.random.default_rng(seed).normal(size=(3, n, dim)))


@given(st.floats(0, 1), st.floats(-3, 3), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_blend_interpolates(share, scale, seed, rank):
    x, y, _ = part(seed)
    parameters = random_parameters(seed, rank)
    expected = (1 - share) * tensor_indexing(parameters, x, y) + share * scale * (x + y)
    np.testing.assert_allclose(tensor_indexing(blend(parameters, share, scale), x, y), expected, atol=1e-10)


def test_scale_equals_least_squares():
    some = part(1)
    expected = np.linalg.lstsq((some.x + some.y).reshape(-1, 1), some.z.ravel(), rcond=None)[0]
    assert additive_scale(some) == pytest.approx(expected[0])
    assert additive_scale(PhraseVectors(*np.zeros((3, 2, 2)))) == 0


def errors_and_rank(parameters, part, share, scale, phrases):
    """Squared errors, and mean reciprocal rank, phrase by phrase."""
    composed = tensor_indexing(blend(parameters, share, scale), part.x, part.y)
    ranks = []
    for one, true in zip(composed, part.z, strict=True):
        cosines = [one @ other / np.linalg.norm(other) for other in phrases]
        ranks.append(1 + sum(cosine > one @ true / np.linalg.norm(true) + 1e-9 for cosine in cosines))
    return ((composed - part.z) ** 2).sum(axis=1), np.mean(1 / np.array(ranks))


@pytest.mark.parametrize("is_allowed", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_best_share_has_the_best_rank_among_allowed_errors(seed, is_allowed):
    """The targets are mostly additive; shares are allowed if full additive composition errs clearly more."""
    rng = np.random.default_rng(seed)
    train, dev = (
        p._replace(z=p.x + p.y + rng.normal(scale=1.0, size=p.x.shape)) for p in (part(seed), part(seed + 50))
    )
    parameters, linear = random_parameters(seed), random_parameters(seed + 9, rank=0)
    parameters["left"][0] = parameters["right"][0] = linear["left"][0] = linear["right"][0] = np.eye(4)
    parameters["left"][1:] *= 0.3
    linear["identity"] = np.zeros(2)
    linear["left"] = linear["left"] + rng.normal(scale=3 if is_allowed else 0.3, size=(4, 4))
    parameters["identity"] = parameters["identity"] * 0.1
    scale = additive_scale(train)
    phrases = np.concatenate([dev.z, train.z])
    by_share = {share: errors_and_rank(parameters, dev, share, scale, phrases) for share in SHARES}
    linear_errors = errors_and_rank(linear, dev, 0, 0, phrases)[0]
    allowed = {}
    for share, (errors, rank) in by_share.items():
        losses = errors - linear_errors
        if losses.mean() < -losses.std() / np.sqrt(len(losses)):
            allowed[share] = rank
    assert bool(allowed) == is_allowed
    if not allowed:
        allowed = {share: -errors.sum() for share, (errors, _) in by_share.items()}
    assert best_share(parameters, linear, scale, dev, train) == max(allowed, key=allowed.get)


def test_share_is_recorded_and_can_be_set():
    vectors, triples, _ = synthetic_phrases()
    how = {"min_phrases": 50, "fit_epochs": 2, "rank": 1}
    chosen = em.TensorIndexing(**how).fit(vectors, triples, threads=1)
    assert set(chosen.record["additive_share"]) == {"any", "red", "blue"}
    none, half, all_ = (
        em.TensorIndexing(**how, additive_share=share).fit(vectors, triples, threads=1) for share in (0, 0.5, 1)
    )
    assert half.record["additive_share"]["red"] == 0.5
    a, b, c = (model.compose("w1", "w2", type="red") for model in (none, half, all_))
    np.testing.assert_allclose(b, (a + c) / 2, atol=1e-5)
    both = vectors["w1"] + vectors["w2"]
    assert c @ both / np.linalg.norm(c) / np.linalg.norm(both) == pytest.approx(1, abs=1e-5)
    with pytest.raises(SettingError, match=r"additive_share.*1\.5"):
        em.TensorIndexing(additive_share=1.5)
