"""The mixture with the additive function, and the share that held-out phrases choose."""

import numpy as np
import pytest
from composition.planted import world
from hypothesis import given
from hypothesis import strategies as st

import embeddings as em
from embeddings.errors import SettingError
from embeddings.plugins.tensor_indexing.blending import SHARES, best_share, blended, scale_of
from embeddings.plugins.tensor_indexing.functions import TensorIndexing
from embeddings.plugins.tensor_indexing.linear_solvers import Part


def drawn(seed, rank=2, dim=4):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(1 + rank, dim, dim)) for name in ("left", "right")} | {
        "identity": rng.normal(size=2)
    }


def part(seed, n=40, dim=4):
    return Part(*np.random.default_rng(seed).normal(size=(3, n, dim)))


@given(st.floats(0, 1), st.floats(-3, 3), st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_it_is_the_mixture(share, scale, seed, rank):
    x, y, _ = part(seed)
    function, known = TensorIndexing(), drawn(seed, rank)
    wanted = (1 - share) * function.predict(known, x, y) + share * scale * (x + y)
    np.testing.assert_allclose(function.predict(blended(known, share, scale), x, y), wanted, atol=1e-10)


def test_the_scale_is_that_of_least_squares():
    some = part(1)
    wanted = np.linalg.lstsq((some.x + some.y).reshape(-1, 1), some.z.ravel(), rcond=None)[0]
    assert scale_of(some) == pytest.approx(wanted[0])
    assert scale_of(Part(*np.zeros((3, 2, 2)))) == 0


def measured(known, part, share, scale, phrases):
    """Squared errors, and mean reciprocal rank, phrase by phrase."""
    made = TensorIndexing().predict(blended(known, share, scale), part.x, part.y)
    ranks = []
    for one, true in zip(made, part.z, strict=True):
        cosines = [one @ other / np.linalg.norm(other) for other in phrases]
        ranks.append(1 + sum(cosine > one @ true / np.linalg.norm(true) + 1e-9 for cosine in cosines))
    return ((made - part.z) ** 2).sum(axis=1), np.mean(1 / np.array(ranks))


@pytest.mark.parametrize("seed", range(6))
def test_the_share_has_the_best_rank_of_those_whose_error_is_below_full_additive(seed):
    """The targets are mostly additive, and what is mixed errs in another way than full additive does."""
    rng = np.random.default_rng(seed)
    train, dev = (
        p._replace(z=p.x + p.y + rng.normal(scale=1.0, size=p.x.shape)) for p in (part(seed), part(seed + 50))
    )
    known, linear = drawn(seed), drawn(seed + 9, rank=0)
    known["left"][0] = known["right"][0] = linear["left"][0] = linear["right"][0] = np.eye(4)
    known["left"][1:] *= 0.3
    linear["identity"] = np.zeros(2)
    linear["left"] = linear["left"] + rng.normal(scale=0.3, size=(4, 4))
    known["identity"] = known["identity"] * 0.1
    scale = scale_of(train)
    phrases = np.concatenate([dev.z, train.z])
    found = {share: measured(known, dev, share, scale, phrases) for share in SHARES}
    theirs = measured(linear, dev, 0, 0, phrases)[0]
    allowed = {}
    for share, (errors, rank) in found.items():
        losses = errors - theirs
        if losses.mean() < -losses.std() / np.sqrt(len(losses)):
            allowed[share] = rank
    if not allowed:
        allowed = {share: -errors.sum() for share, (errors, _) in found.items()}
    assert best_share(known, linear, scale, dev, train) == max(allowed, key=allowed.get)


def test_the_share_is_kept_and_can_be_given():
    vectors, triples, _ = world()
    how = {"fewest": 50, "fit_epochs": 2, "rank": 1}
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
    with pytest.raises(SettingError, match=r"additive_share must be at least 0 and at most 1, not 1\.5"):
        em.TensorIndexing(additive_share=1.5)
