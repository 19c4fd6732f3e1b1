"""Names of gensim and fastText: what the messages of errors and the tables of the migration pages say, which runs."""

import re
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import embeddings as em
from embeddings.setting_names import EXPRESSIONS, OUR_EXPRESSIONS, OUR_NAMES, normalize_name

PAGES = [Path(__file__).parents[2] / "docs" / "migration" / name for name in ("gensim.md", "fasttext-word2vec.md")]
OTHER_TOOLS = {"em.embed(model, texts)", "em.embed(path, texts)"}  # of sentence-transformers, scikit-learn, model2vec
OTHER_TOOLS |= {"em.sklearn.MeanVectorizer(vectors=vectors).fit_transform(texts)", "em.Corpus(lines)"}
LINES = ["the king rules new york", "the queen rules new york", "a man walks", "a woman walks"] * 20
LABELLED = ["__label__pos a good film", "__label__neg a bad film"] * 20
SMALL = {"epochs": 1, "min_count": 1}


def table_rows():
    """The cells of each row of the tables of the pages."""
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def names_in(cell):
    """The attributes, functions and classes in the code of a cell."""
    names = re.compile(r"(?<=\.)[a-z]\w*|\b[A-Z]\w+\b(?!\.)|\b[a-z]\w+(?=\()")
    return {name for code in re.findall(r"`([^`]+)`", cell) for name in names.findall(code)}


class Trained:
    """What the right-hand sides of the tables name, each made on first use."""

    def __init__(self, folder):
        """Write the files that `path` may be."""
        self.folder = folder
        (folder / "lines.txt").write_text("\n".join(LINES), encoding="utf-8")
        (folder / "labelled.txt").write_text("\n".join(LABELLED), encoding="utf-8")
        pairs = [f"{a}\t{b}\t{i}\n" for i, (a, b) in enumerate([("king", "queen"), ("man", "woman"), ("the", "a")])]
        (folder / "pairs.tsv").write_text("".join(pairs), encoding="utf-8")
        (folder / "analogies.txt").write_text(": royal\nking queen man woman\n", encoding="utf-8")

    def path(self, expression):
        """The file or folder that `path` stands for in an expression."""
        kinds = {"load": "model", "similarity": "pairs.tsv", "analogy": "analogies.txt", "init=": "model"}
        kinds |= {"export": "written.bin", "classifier": "labelled.txt", "em.embed": "model"}
        return self.folder / next((name for key, name in kinds.items() if key in expression), "lines.txt")

    @cached_property
    def models(self):
        """A model of each kind."""
        return {
            kind: em.train(kind, LABELLED if kind == "classifier" else LINES, threads=1, **SMALL)
            for kind in ("skipgram", "paragraph-dbow", "classifier", "fasttext")
        }

    def model_for(self, expression):
        """The model that an expression needs."""
        kind = "skipgram"
        if "documents" in expression or "infer" in expression:
            kind = "paragraph-dbow"
        elif "label" in expression or "classifier" in expression:
            kind = "classifier"
        elif "fasttext" in expression:
            kind = "fasttext"
        return self.models[kind]

    def run(self, expression):
        """Evaluate an expression as a user would."""
        model = self.model_for(expression)
        (self.folder / "written.bin").unlink(missing_ok=True)
        path = self.path(expression)
        if path.name == "model":
            model.save(path, force=True)
        names = {"em": em, "model": model, "vectors": model.vectors, "lines": LINES, "path": str(path)}
        names |= {"others": model.vectors, "pairs": [("king", "king"), ("man", "man")]}
        names |= {"name": "skipgram", "trainer": em.SkipGram(**SMALL), "words": ["king", "queen"], "word": "king"}
        names |= {"other": "queen", "a": "man", "b": "king", "c": "woman", "text": LINES[0], "texts": LINES[:3]}
        names |= {
            "matrix": np.ones((2, 100), np.float32),
            "rows": [{"text": line, "tag": i} for i, line in enumerate(LINES)],
        }
        if "classifier" in expression and model.name == "classifier":
            names["classifier"] = model.classifier
        return eval(expression, names)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return Trained(tmp_path_factory.mktemp("migration"))


@pytest.mark.parametrize("ours", EXPRESSIONS)
def test_what_an_error_says_runs_when_it_is_typed(ours, trained, monkeypatch):
    monkeypatch.chdir(trained.folder)
    for expression in ours.split(" or "):
        trained.run(expression)


def test_the_pages_say_what_the_errors_say():
    for left, right, *_ in table_rows():
        for name in names_in(left) & OUR_EXPRESSIONS.keys():
            ours = OUR_EXPRESSIONS[name]
            assert any(part in right for part in ours.split(" or ")), (name, ours, right)


def test_the_pages_have_every_right_hand_side():
    text = " ".join(right for _, right, *_ in table_rows())
    missing = [ours for ours in EXPRESSIONS for part in ours.split(" or ") if f"`{part}`" not in text]
    assert set(missing) <= OTHER_TOOLS


def test_the_pages_name_the_settings_that_the_errors_name():
    checked = 0
    for left, *rest in table_rows():
        setting = re.fullmatch(r"`-?(\w+)`", left)
        if setting and (ours := OUR_NAMES.get(normalize_name(setting[1]))):
            checked += 1
            assert any(normalize_name(ours) in normalize_name(cell) for cell in rest), left
    assert checked > 20


@pytest.mark.parametrize(
    ("owner", "name", "ours"),
    [
        ("model", "wv", "model.vectors"),
        ("model", "index_to_key", "vectors.words"),
        ("vectors", "distance", "vectors.distances(word, [other])[0]"),
        ("vectors", "get_vector", "vectors[word]"),
        ("vectors", "save_word2vec_format", 'vectors.save("words.bin") or vectors.save("words.txt")'),
        ("trainer", "build_vocab", "trainer.train(lines) or em.continue_training(model, lines)"),
        ("em", "KeyedVectors", "em.load(path)"),
        ("em", "Word2Vec", "em.SkipGram(dim=100).train(lines) or em.CBOW(dim=100).train(lines)"),
        ("em", "train_supervised", 'em.train("classifier", path)'),
        ("classifier", "get_labels", "classifier.labels or model.labels.words"),
    ],
)
def test_a_missing_attribute_is_answered_with_ours(owner, name, ours, trained):
    with pytest.raises(AttributeError, match=name) as error:
        getattr(trained.run(owner), name)
    assert str(error.value).endswith(f": use {ours}")
    assert not hasattr(trained.run(owner), "nobody_has_it")


def test_a_model_is_read_like_its_vectors(trained):
    model = trained.run("model")
    np.testing.assert_array_equal(model["king"], model.vectors["king"])
    assert model[["king", "queen"]].shape == (2, 100)
    assert "king" in model
    assert "nobody" not in model
    assert model.most_similar("king", top=2) == model.vectors.most_similar("king", top=2)


def test_words_without_a_vector_are_left_out_as_the_guide_says(trained):
    vectors, words = trained.run("vectors"), ["king", "nobody", "queen", "the"]
    for method in (vectors.doesnt_match, vectors.get_mean_vector):
        with pytest.raises(em.EmbeddingsError, match="'nobody'"):
            method(words)
        method([word for word in words if word in vectors])
