"""Pretrained vectors beside trained components and through a projection, against naive implementations in float64."""

import numpy as np
import pytest
from interrupted_runs import CONFIGURATIONS, corpus, interrupted_after, learn, table_bytes
from naive import Stream, blocks, score, sigmoid, single_context_windows, update, window_targets

import embeddings as em
from embeddings.cluster.cluster_training import check_options
from embeddings.errors import SettingError
from embeddings.eval import evaluate
from embeddings.kernels.block import BLOCK_SIZE
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.row_operations import UPDATE_TILE
from embeddings.training.training_data import prepare

WORDS, SEED, NEGATIVES = [f"w{i}" for i in range(0, 50, 2)], 3, 5
LINES = [[f"w{i}" for i in np.random.default_rng(1).zipf(1.5, n) % 50] for n in (500, 3, 1, 2000, 60)]
MODES = {"concatenate": 10, "project": 8}  # with the dimension of the model


def pretrained(dim: int = 6) -> em.Vectors:
    """Random vectors of half of the words."""
    return em.Vectors(WORDS, np.random.default_rng(9).normal(size=(len(WORDS), dim)).astype(np.float32))


class NaiveWords:
    """The rows of words, one word at a time."""

    def __init__(self, words, start, tables, is_projected):
        self.given = {row: start[word].astype(np.float64) for row, word in enumerate(words) if word in start}
        norm = np.sqrt(np.mean([vector @ vector for vector in self.given.values()]))
        self.scale = 1 / norm if is_projected else 1.0
        self.trained = tables["words"].astype(np.float64)
        self.projection = tables["projection"].astype(np.float64) if is_projected else None
        self.zeros = np.zeros(start.dim)

    def row(self, word):
        if self.projection is None:
            return np.append(self.given.get(word, self.zeros), self.trained[word])
        return self.scale * self.given[word] @ self.projection if word in self.given else self.trained[word]

    def learn(self, words, gradient, factor, share):
        """Each word gets a share of the gradient of the mean or sum of their rows."""
        if self.projection is None:
            for word in words:
                self.trained[word] += share * gradient[len(self.zeros) :]
            return
        for word in words:
            if word in self.given:
                self.projection += factor * self.scale * np.outer(self.given[word], gradient)
            else:
                self.trained[word] += share * gradient


def naive_run(words, output, windows, rate, trainer):
    """One step for each window."""
    is_cbow = trainer.trainer_name == "cbow"
    for centre, contexts, noise in windows:
        if not contexts:
            continue
        factor = 1 / len(contexts) if is_cbow and trainer.combine == "mean" else 1.0
        groups = [contexts] if is_cbow else [[context] for context in contexts]
        inputs = [factor * sum(words.row(word) for word in group) for group in groups]
        gradients = [np.zeros_like(one) for one in inputs]
        targets, weights = window_targets(output, centre, noise)
        assert len(targets) <= UPDATE_TILE
        scores = score(inputs, targets)
        steps = rate * np.asarray(weights) * (np.eye(1, len(targets)) - sigmoid(scores))
        update(steps, inputs, gradients, targets)
        is_exact = is_cbow and trainer.context_gradient == "exact"
        for group, gradient in zip(groups, gradients, strict=True):
            words.learn(group, gradient, factor, factor if is_exact else 1.0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("skipgram", {}),
        ("skipgram", {"negative_sharing": "none"}),
        ("cbow", {}),
        ("cbow", {"context_gradient": "exact"}),
        ("cbow", {"combine": "sum"}),
    ],
    ids=str,
)
def test_a_run_equals_the_naive_implementation(name, settings, mode):
    small = {"min_count": 1, "subsample": 0.05, "epochs": 1, "window": 3, "learning_rate": 0.05, "dim": MODES[mode]}
    trainer = {"skipgram": em.SkipGram, "cbow": em.CBOW}[name](**small, **settings)
    start = pretrained()
    run_options = em.training.RunOptions(init=em.InitFrom(start, mode=mode))
    data = prepare(trainer, em.Corpus(LINES), threads=1, seed=SEED, run_options=run_options)
    plan = trainer.plan(data)
    tables = {name: plan.tables[name].unpad(table) for name, table in plan.allocate(SEED).items()}
    words = NaiveWords(data.vocabulary.words, start, tables, mode == "project")
    output = tables["output"].astype(np.float64)
    in_pairs = settings.get("negative_sharing") == "none"
    noise = NEGATIVES * 2 * trainer.window if in_pairs else NEGATIVES
    source, stream = plan.stream.source, Stream(int(thread_keys(SEED, 1)[0]))
    (windows,) = [one for one in blocks(source, 0, len(data.encoded.ids), stream, BLOCK_SIZE, noise) if one]
    if in_pairs:
        windows = single_context_windows(windows, NEGATIVES)
    naive_run(words, output, windows, trainer.learning_rate_at(0, len(data.encoded.ids)), trainer)
    model = trainer.train(em.Corpus(LINES), threads=1, seed=SEED, run_options=run_options)
    expected = np.array([words.row(row) for row in range(len(data.vocabulary))])
    np.testing.assert_allclose(model.vectors.matrix, expected, atol=2e-3)
    np.testing.assert_allclose(model.tables["output"], output, atol=2e-3)
    learned = words.trained - tables["words"] if mode == "concatenate" else words.projection - tables["projection"]
    assert abs(learned).max() > 0.05
    if mode == "project":
        np.testing.assert_allclose(model.tables["projection"], words.scale * words.projection, atol=2e-3)
        known = [row for row in range(len(expected)) if row in words.given]
        projected = np.array([words.given[row] for row in known]) @ model.tables["projection"]
        np.testing.assert_allclose(model.vectors.matrix[known], projected, atol=1e-5)


@pytest.mark.parametrize("name", ["skipgram", "cbow"])
def test_given_components_stay_and_the_others_learn(name):
    start = pretrained()
    model = learn(name, corpus(name), {"dim": 10}, threads=2, init=em.InitFrom(start, mode="concatenate"))
    first, second = np.hsplit(model.vectors.matrix, [6])
    for word, given, trained in zip(model.vectors.words, first, second, strict=True):
        assert given.tolist() == (start[word].tolist() if word in start else [0] * 6)
        assert abs(trained).max() > 0.01
    assert model.record["notes"] == ["25 of 50 words have a pretrained vector"]
    assert model.settings["dim"] == model.vectors.dim == 10


@pytest.mark.parametrize(("name", "mode"), [("skipgram", "project"), ("cbow", "concatenate")])
def test_resumed_runs_and_replicas(tmp_path, name, mode):
    options = {"init": em.InitFrom(pretrained(), mode=mode)}
    text, checkpoints = corpus(name), em.Checkpoints(tmp_path / "c")
    whole = learn(name, text, {"dim": 8}, **options)
    with interrupted_after(4), pytest.raises(em.training.Interrupted):
        learn(name, text, {"dim": 8}, checkpoints=checkpoints, **options)
    other = {"init": em.InitFrom(pretrained(), mode="project" if mode == "concatenate" else "concatenate")}
    with pytest.raises(em.EmbeddingsError, match="another run"):
        learn(name, text, {"dim": 8}, checkpoints=checkpoints, resume=True, **other)
    resumed = learn(name, text, {"dim": 8}, checkpoints=checkpoints, resume=True, **options)
    assert table_bytes(resumed) == table_bytes(whole)
    one, two = (learn(name, text, {"dim": 8}, threads=n, replicas=em.training.Replicas(2), **options) for n in (1, 2))
    assert table_bytes(one) == table_bytes(two)


def test_models_continue_predict_and_have_a_perplexity(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(line) for line in LINES if len(line) > 1) + "\n")
    settings = {"dim": 10, "min_count": 1, "objective": "full-softmax", "threads": 1}
    em.train("cbow", text, init=em.InitFrom(pretrained(), mode="concatenate"), **settings).save(tmp_path / "m")
    model = em.load_model(tmp_path / "m")
    _, perplexity = evaluate(model, perplexity=text)
    assert 1 < perplexity.value < len(model.vocabulary)
    continued = em.continue_training(model, text, threads=1)
    assert not np.allclose(continued.vectors.matrix[:, :6], model.vectors.matrix[:, :6])


@pytest.mark.parametrize("name", sorted({name for name, _ in CONFIGURATIONS} - {"skipgram", "cbow", "tensor-indexing"}))
def test_other_trainers_refuse_modes(name):
    with pytest.raises(SettingError, match="mode=project"):
        learn(name, corpus(name), {"dim": 8}, init=em.InitFrom(pretrained(), mode="project"))


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"dim": 6}, {"mode": "concatenate"}, r"dim must be greater than 6.*got 6"),
        ({"dim": 8, "tie": True}, {"mode": "project"}, r"mode=project.*tie"),
        ({"dim": 8}, {"mode": "project", "freeze": True}, r"freeze.*mode=project"),
        ({"dim": 8}, {"mode": "append"}, r"mode.*concatenate.*'append'"),
    ],
)
def test_unsuitable_settings(settings, arguments, message):
    with pytest.raises(SettingError, match=message):
        learn("cbow", corpus("cbow"), settings, init=em.InitFrom(pretrained(), **arguments))


def test_words_of_no_given_vector():
    start = em.Vectors(["x", "y"], np.ones((2, 6)))
    with pytest.raises(SettingError, match="none of the 50 words"):
        learn("cbow", corpus("cbow"), {"dim": 8}, init=em.InitFrom(start, mode="project"))


def test_workers_of_a_cluster_do_not_have_the_given_vectors():
    run_options = em.training.RunOptions(init=em.InitFrom(pretrained(), mode="project"))
    with pytest.raises(SettingError, match=r"mode=project.*cluster"):
        check_options(em.CBOW(dim=8), run_options)
    check_options(em.CBOW(dim=6), em.training.RunOptions(init=em.InitFrom(pretrained())))
