"""Models of documents: what a document is, tags, threads, saved models, and inference that gives the same twice."""

import json

import numpy as np
import pyarrow
import pytest

import embeddings as em
from embeddings.corpora.documents import corpus_documents
from embeddings.corpora.phrases import Phrase, PhraseList, phrase_table
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, OutputError, SettingError
from embeddings.models import document_vectors
from embeddings.testing import check_trainer
from embeddings.training import document_stream as training
from embeddings.training.task import prepare

KINDS = [
    (em.ParagraphDBOW, {}),
    pytest.param(em.ParagraphDBOW, {"train_words": True}, marks=pytest.mark.slow),
    (em.ParagraphDM, {}),
    (em.ParagraphDM, {"combine": "sum", "learning_rate": 0.025}),
    pytest.param(em.ParagraphDM, {"combine": "concat"}, marks=pytest.mark.slow),
]
EVERY = pytest.mark.parametrize(("kind", "more"), KINDS, ids=["dbow", "dbow-words", "mean", "sum", "concat"])
SMALL = {"dim": 8, "min_count": 1, "subsample": 0, "epochs": 30}
PLACES, THINGS = ("sea", "hill", "town"), 12


def texts(count=240, seed=1):
    """Texts about one of three places, in words of its own among common ones."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        place = PLACES[number % 3]
        yield " ".join(f"{place}{rng.integers(THINGS)} w{rng.integers(9)}" for _ in range(5))


@pytest.mark.slow
@EVERY
def test_contract_in_every_form(kind, more):
    window = {} if kind is em.ParagraphDM or more else {"window": 5}  # plain DBOW has none, and takes no other
    check_trainer(kind, **more, **window)


@pytest.mark.slow
@EVERY
def test_documents_of_one_place_are_nearest_and_inferred_ones_find_them(kind, more):
    """The words beside a word of a place tell nothing, so a window of 1 leaves all to the document."""
    window = {"window": 1} if kind is em.ParagraphDM or more else {}
    made = kind(**{**SMALL, **more, "epochs": 100, "learning_rate": 0.05, **window})
    model = made.train(em.Corpus(list(texts())), threads=1)
    vectors = model.documents
    assert vectors.words == [str(number) for number in range(240)]
    assert vectors.matrix.shape == (240, 8)
    near = vectors.most_similar_many([str(number) for number in range(30)], top=5)
    right = [int(other) % 3 == number % 3 for number, found in enumerate(near) for other, _ in found]
    assert np.mean(right) > 0.95
    inferred = model.infer(list(texts(30, seed=2)), threads=1)
    found = vectors.most_similar_many(list(inferred), top=5)
    right = [int(other) % 3 == number % 3 for number, rest in enumerate(found) for other, _ in rest]
    assert np.mean(right) > 0.95


@EVERY
def test_a_text_and_a_seed_settle_every_byte(kind, more, tmp_path):
    model = kind(**{**SMALL, **more, "subsample": 0.01, "epochs": 4}).train(em.Corpus(list(texts())), threads=2)
    asked = [*texts(150, seed=3), "", "unknown words alone", "sea1"]
    found = model.infer(asked, threads=1, seed=5)
    assert found.dtype == np.float32
    assert found.shape == (153, 8)
    assert not found[150:152].any()
    assert found[:150].any(axis=1).all()
    assert model.infer(asked, threads=3, seed=5).tobytes() == found.tobytes()
    assert model.infer(asked[::-1], threads=2, seed=5)[::-1].tobytes() == found.tobytes()
    assert model.infer([asked[7]], seed=5).tobytes() == found[7].tobytes()
    assert model.infer([text.split() for text in asked[:9]], seed=5).tobytes() == found[:9].tobytes()
    assert model.infer(asked[7:8], seed=6).tobytes() != found[7].tobytes()
    assert model.infer(asked[7:8], seed=5, epochs=9).tobytes() != found[7].tobytes()
    model.save(tmp_path / "m")
    assert em.load_model(tmp_path / "m").infer(asked, seed=5).tobytes() == found.tobytes()


@EVERY
def test_inference_changes_nothing_else(kind, more):
    model = kind(**{**SMALL, **more, "epochs": 3, "dim": 16}).train(em.Corpus(list(texts())), threads=1)
    before = [model.vectors.matrix.tobytes(), *(table.tobytes() for table in model.tables.values())]
    model.infer(list(texts(20)))
    assert before == [model.vectors.matrix.tobytes(), *(table.tobytes() for table in model.tables.values())]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_documents_that_share_a_tag_share_a_row_in_any_order(threads, shuffle, tmp_path):
    """Each tag has its own word, and each row must go where its own words are."""
    path = tmp_path / "d.jsonl"
    rng = np.random.default_rng(1)
    tags = rng.permutation(np.repeat([f"tag{i}" for i in range(9)], 30)).tolist()
    path.write_text("".join(json.dumps({"text": f"own{t} " * 20, "tag": t}) + "\n" for t in tags))
    made = em.ParagraphDBOW(dim=16, min_count=1, subsample=0, epochs=30, learning_rate=0.1, shuffle=shuffle)
    model = made.train(em.Corpus(path, text_column="text", tag_column="tag"), threads=threads)
    assert model.documents.words == list(dict.fromkeys(tags))
    scores = model.documents.matrix @ model.vectors[[f"own{t}" for t in model.documents.words]].T
    assert (scores.argmax(axis=1) == np.arange(9)).all()


def parts(source, how="auto", **columns):
    encoded = em.Corpus(source, **columns).encode()
    found = corpus_documents(encoded, how)
    return np.diff(found.borders).tolist(), found.rows.tolist(), found.tags


def test_what_a_document_is(tmp_path):
    (tmp_path / "t.txt").write_text("a b\nc\n\nd e f\n\n\ng\n")
    assert parts(tmp_path / "t.txt") == ([2, 1, 0, 3, 0, 0, 1], list(range(7)), None)
    assert parts(tmp_path / "t.txt", "lines") == parts(tmp_path / "t.txt")
    assert parts(tmp_path / "t.txt", "blocks") == ([3, 3, 1], [0, 1, 2], None)
    assert parts(["a b\nc", "d", ""]) == ([3, 1, 0], [0, 1, 2], None)
    assert parts(["a b\nc", "d", ""], "lines") == ([2, 1, 1, 0], [0, 1, 2, 3], None)
    assert parts([["a", "b"], ["c"]]) == ([2, 1], [0, 1], None)
    (tmp_path / "t.csv").write_text('text,tag\n"a b\nc",y\nd,x\ne,y\n')
    lengths, rows, tags = parts(tmp_path / "t.csv", text_column="text", tag_column="tag")
    assert (lengths, rows, tags.to_pylist()) == ([3, 1, 1], [0, 1, 0], ["y", "x"])
    lengths, rows, tags = parts(tmp_path / "t.csv", "lines", text_column="text", tag_column="tag")
    assert (lengths, rows, tags.to_pylist()) == ([2, 1, 1, 1], [0, 0, 1, 0], ["y", "x"])


def test_a_document_without_a_tag_is_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "a", "tag": "x"}\n{"text": "b", "tag": null}\n')
    with pytest.raises(CorpusError, match="document 1 has no tag"):
        parts(tmp_path / "t.jsonl", text_column="text", tag_column="tag")


@EVERY
def test_documents_without_a_known_word_are_zeros(kind, more):
    model = kind(**{**SMALL, **more, "min_count": 2, "epochs": 2}).train(em.Corpus(["a b a b", "", "once", "a b"]))
    rows = model.documents.matrix
    assert rows[[0, 3]].any(axis=1).all()
    assert not rows[[1, 2]].any()


@EVERY
@pytest.mark.parametrize("given", [["a"], ["a a a"], [["a", "b"]], ["x y " * 30_000], ["日本 a", "café \U0001f600 a"]])
def test_the_smallest_and_the_longest(kind, more, given):
    model = kind(dim=3, min_count=1, epochs=2, **more).train(em.Corpus(given), threads=2)
    assert np.isfinite(model.documents.matrix).all()
    assert model.documents.matrix.any(axis=1).all()
    assert np.isfinite(model.infer(given)).all()


@pytest.mark.slow
@EVERY
def test_a_document_of_a_million_words(kind, more):
    words = [f"w{i}" for i in np.random.default_rng(1).zipf(1.5, 1_000_000) % 1000]
    model = kind(dim=4, epochs=1, **more).train(em.Corpus([words, ["w1", "w2"] * 5]), threads=2)
    assert model.record["words"] == 1_000_010
    assert np.isfinite(model.documents.matrix).all()
    assert np.isfinite(model.infer([words], epochs=1)).all()


@pytest.mark.slow
def test_documents_of_the_lee_corpus_find_themselves():
    """gensim's own corpus and its tutorial's settings, by which it finds 292 of 300."""
    utils = pytest.importorskip("gensim.test.utils")
    corpus = em.Corpus(utils.datapath("lee_background.cor"))
    made = em.ParagraphDM(dim=50, min_count=2, epochs=40, subsample=0.001)
    model = made.train(corpus, threads=1)
    found = model.documents.most_similar_many(list(model.infer(corpus)), top=1)
    assert len(found) == 300
    assert sum(near[0][0] == str(number) for number, near in enumerate(found)) >= 290


@EVERY
def test_one_thread_and_a_seed_settle_every_byte(kind, more):
    made = kind(**{**SMALL, **more, "epochs": 2, "shuffle": True})
    one, again = (made.train(em.Corpus(list(texts())), threads=1).documents.matrix.tobytes() for _ in range(2))
    assert one == again
    assert made.train(em.Corpus(list(texts())), threads=1, seed=2).documents.matrix.tobytes() != one


def test_threads_cut_at_documents():
    corpus = em.Corpus(["w " * 10 + "\n" + "w " * 10] * 10)
    task = prepare("paragraph-dbow", em.ParagraphDBOW(min_count=1), corpus, threads=3)
    assert task.share_bounds(corpus_documents(task.encoded).borders) == [0, 66, 133, 200]
    task = prepare("paragraph-dbow", em.ParagraphDBOW(min_count=1), em.Corpus(["w " * 10] * 1000), threads=3)
    assert task.share_bounds(corpus_documents(task.encoded).borders) == [0, 3330, 6670, 10_000]


def test_a_large_table_lies_in_a_file_and_gives_the_same(monkeypatch, tmp_path):
    made = em.ParagraphDBOW(**{**SMALL, "epochs": 2})
    expected = made.train(em.Corpus(list(texts())), threads=1).documents.matrix
    monkeypatch.setattr(training, "LARGE", 1000)
    model = made.train(em.Corpus(list(texts())), threads=1)
    base = model.documents.matrix
    while not isinstance(base, np.memmap):
        base = base.base
    np.testing.assert_array_equal(model.documents.matrix, expected)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(em.load_model(tmp_path / "m").documents.matrix, expected)


def test_no_room_for_a_large_table_is_told(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training, "LARGE", 1000)
    monkeypatch.setattr(training.os, "posix_fallocate", full)
    with pytest.raises(OutputError, match=r"no room for a table of 240 documents, 15,360 bytes in .*No space left"):
        em.ParagraphDBOW(**SMALL).train(em.Corpus(list(texts())))


def tagged(tmp_path, tags):
    path = tmp_path / "d.csv"
    path.write_text("text,tag\n" + "".join(f"a b {tag},{tag}\n" for tag in tags))
    return em.Corpus(path, text_column="text", tag_column="tag")


def test_tags_are_saved_and_loaded(tmp_path):
    model = em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged(tmp_path, ["x", "new york", "é"]))
    model.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    assert loaded.documents.words == ["x", "new york", "é"]
    np.testing.assert_array_equal(loaded.documents.matrix, model.documents.matrix)
    assert em.load(tmp_path / "m", table="documents").words == ["x", "new york", "é"]


def test_tags_of_texts_in_memory():
    rows = [{"text": f"a b {tag}", "tag": tag} for tag in ("x", "y", "x")]
    corpus = em.Corpus(rows, text_column="text", tag_column="tag")
    assert em.ParagraphDM(**{**SMALL, "epochs": 2}).train(corpus).documents.words == ["x", "y"]


def test_broken_tags_are_told(tmp_path):
    model = em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged(tmp_path, ["x", "y"]))
    model.save(tmp_path / "m")
    (tmp_path / "m" / document_vectors.TAGS).write_bytes(b"no")
    with pytest.raises(FormatError, match=r"documents\.arrow is not a readable file of tags"):
        em.load_model(tmp_path / "m")
    (tmp_path / "m" / document_vectors.TAGS).unlink()
    em.ParagraphDM(**{**SMALL, "epochs": 2}).train(tagged(tmp_path, ["x", "y", "z"])).save(tmp_path / "o")
    (tmp_path / "o" / document_vectors.TAGS).rename(tmp_path / "m" / document_vectors.TAGS)
    with pytest.raises(FormatError, match="3 tags of type large_string, not 2"):
        em.load_model(tmp_path / "m")


def test_broken_models_are_told():
    model = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
    model.tables["output"] = model.tables["output"][:1]
    with pytest.raises(FormatError, match=r"its table 'output' is \(1, 8\) float32, not float32 \(2, 8\)"):
        model.infer(["a"])
    model = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
    model.settings["strange"] = 1
    with pytest.raises(FormatError, match="unexpected keyword argument 'strange'"):
        model.infer(["a"])
    model = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
    del model.record["text"]
    with pytest.raises(FormatError, match="does not say how text was read"):
        model.infer(["a"])


@EVERY
@pytest.mark.parametrize("claimed", [4, 9, 40])
def test_settings_of_another_dim_are_told_and_nothing_is_read_beyond_a_row(kind, more, claimed):
    """Even if its other tables fit the settings."""
    model = kind(**{**SMALL, **more, "epochs": 1}).train(em.Corpus(["a b a"]))
    model.settings["dim"] = claimed
    for name in {"output", "nothing"} & set(model.tables):
        model.tables[name] = np.zeros((*model.tables[name].shape[:-1], claimed), np.float32)
    with pytest.raises(FormatError, match=f"its settings say dim {claimed}, and its vectors have 8"):
        model.infer(["a"])


def test_models_without_documents_say_so():
    model = em.SkipGram(dim=4, min_count=1).train(em.Corpus(["a b"]))
    with pytest.raises(SettingError, match="a skipgram model has no vectors of documents"):
        _ = model.documents
    with pytest.raises(SettingError, match="a skipgram model finds no vectors for documents"):
        model.infer(["a"])


def test_bad_arguments_of_inference():
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
    for bad, told in [
        ("a b", "texts must be a list of texts"),
        (3, "texts must be a list of texts"),
        ({"text": "a"}, "not a dict: a mapping gives its keys"),
        ({"a"}, "not a set: a set has no order"),
    ]:
        with pytest.raises(SettingError, match=told):
            model.infer(bad)
    for more in ({"epochs": 0}, {"epochs": -1}, {"threads": 0}, {"seed": -1}, {"epochs": 1.5}):
        with pytest.raises(SettingError, match=next(iter(more))):
            model.infer(["a"], **more)
    for bad in (["a", None], [{"text": "a"}]):
        with pytest.raises(CorpusError):
            model.infer(bad)
    with pytest.raises(CorpusError):
        model.infer(["a \ud800"])
    assert model.infer([]).shape == (0, 8)
    assert not model.infer(["", " ,"]).any()


def test_text_is_cut_as_in_the_training():
    corpus = em.Corpus(["The End. the end"] * 9, tokenizer="whitespace", case="keep")
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus)
    assert sorted(model.vectors.words) == ["End.", "The", "end", "the"]
    assert not model.infer(["END, THE."]).any()
    assert model.infer(["End."]).any()


def test_settings_that_do_not_go_together():
    with pytest.raises(SettingError, match="shrink_window is for train_words"):
        em.ParagraphDBOW(shrink_window=False)
    with pytest.raises(SettingError, match="window is for train_words, or negative_sharing distant"):
        em.ParagraphDBOW(window=10)
    for more in ({"train_words": True}, {"negative_sharing": "batch"}):
        assert em.ParagraphDBOW(window=10, **more).window == 10
    assert em.ParagraphDM(combine="concat").shrinks is False
    assert em.ParagraphDM(combine="concat", shrink_window=True).shrinks is True
    assert em.ParagraphDM().shrinks is True
    for how, noise in ({}, 3), ({"negatives": 1}, 1), ({"negative_sharing": "window"}, 5), ({"combine": "mean"}, 5):
        made = em.ParagraphDM(**{"combine": "concat", **how})
        assert made.noise == noise
        if made.combine == "concat":
            assert made.bundle().weights[1 : 1 + noise] == pytest.approx(made.negatives / noise)


def test_two_models_side_by_side():
    corpus = em.Corpus(list(texts()))
    first, second = (kind(**{**SMALL, "epochs": 2}).train(corpus) for kind in (em.ParagraphDBOW, em.ParagraphDM))
    both = em.concatenate(first, second)
    assert both.documents.words == first.documents.words
    np.testing.assert_array_equal(both.documents.matrix[:, :8], first.documents.matrix)
    np.testing.assert_array_equal(both.documents.matrix[:, 8:], second.documents.matrix)
    found = both.infer(text for text in texts(9))
    np.testing.assert_array_equal(found[:, :8], first.infer(list(texts(9))))
    np.testing.assert_array_equal(found[:, 8:], second.infer(list(texts(9))))
    other = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b"]))
    with pytest.raises(SettingError, match="different documents, 240 and 1"):
        _ = em.concatenate(first, other).documents
    with pytest.raises(SettingError, match="nothing to concatenate"):
        em.concatenate()
    lines = em.ParagraphDM(**{**SMALL, "epochs": 1, "documents": "lines"}).train(corpus)
    with pytest.raises(SettingError, match="the models differ in documents: auto, lines"):
        em.concatenate(first, lines).infer(corpus)


@pytest.mark.parametrize("words", ["replace", "alternate"])
def test_phrases_of_the_training_are_joined_again(words, tmp_path):
    """Pass by pass, from a saved model too, whatever the other texts are."""
    listed = PhraseList([Phrase(("new", "york")), Phrase(("new", "york", "times"), step=2), ("york", "times")])
    text = ["New York and new york", "the New York Times", "york times", "new times"] * 5
    corpus = em.Corpus(text, phrases=listed, joiner="+", phrase_mode=words)
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus, threads=1)
    assert {"new+york", "new+york+times", "york+times"} <= set(model.vectors.words)
    model.save(tmp_path / "m")
    asked = ["New York", "the New York Times.", "York times", "york", "times new york", "nothing"]
    joined = [["new+york"], ["the", "new+york+times"], ["york+times"], ["york"], ["times", "new+york"], []]
    plain = em.load_model(tmp_path / "m")
    plain.record["text"]["phrases"] = plain.phrases = None
    expected = plain.infer(joined, seed=3)
    assert expected[:3].any(axis=1).all()
    for known in (model, em.load_model(tmp_path / "m")):
        assert known.infer(asked, seed=3).tobytes() == expected.tobytes()
        assert known.infer(["york"], seed=3).tobytes() == expected[3].tobytes()
        assert em.concatenate(known).corpus(asked).settings["phrases"]
    assert model.infer(em.Corpus(asked, phrases=listed, joiner="+"), seed=3).tobytes() == expected.tobytes()


def test_phrases_go_through_the_cache_and_a_given_vocabulary(tmp_path, monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "t").write_text("in new york\n" * 9)
    for more in ({}, {}, {"vocabulary": Vocabulary(["new_york", "in"], [9, 9])}):
        corpus = em.Corpus(tmp_path / "t", phrases=PhraseList([("new", "york"), ("no", "where")]), **more)
        model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus, threads=1)
        assert model.infer(["new york", "york"]).any(axis=1).tolist() == [True, False]
        assert model.phrases.to_pylist() == [{"words": ["new", "york"], "pass": 1}]


def test_phrases_that_are_broken_or_were_not_kept_are_told(tmp_path):
    corpus = em.Corpus(["new york"] * 5, phrases=PhraseList([("new", "york")]))
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus)
    model.save(tmp_path / "m")
    file = tmp_path / "m" / document_vectors.JOINED
    file.write_bytes(b"no")
    with pytest.raises(FormatError, match=r"phrases\.arrow is not a readable file of phrases"):
        em.load_model(tmp_path / "m")
    for column in (["new"], ["new", ""], None):
        words = pyarrow.array([column], pyarrow.large_list(pyarrow.large_string()))
        phrase_table.save_phrase_table(
            pyarrow.table({"words": words, "pass": pyarrow.array([1], pyarrow.int8())}), file
        )
        with pytest.raises(FormatError, match="the phrases of a model are broken: a phrase has 2 to 32 words"):
            em.load_model(tmp_path / "m").infer(["new york"])
    phrase_table.save_phrase_table(pyarrow.table({"tag": ["x"]}), file)
    with pytest.raises(FormatError, match="holds tag, not the words of phrases"):
        em.load_model(tmp_path / "m")
    file.unlink()
    with pytest.raises(SettingError, match="does not have the phrases of its training: give a Corpus with them"):
        em.load_model(tmp_path / "m").infer(["new york"])
    model.record["text"]["phrases"] = {"joiner": 3}
    with pytest.raises(FormatError, match="its record does not say how phrases were joined"):
        model.infer(["new york"])


def test_a_corpus_that_is_read_in_another_way_is_refused():
    made = em.ParagraphDBOW(**{**SMALL, "epochs": 2})
    text = ["The End of new york"] * 5
    kept_case = made.train(em.Corpus(text, case="keep"), threads=1)
    with pytest.raises(SettingError, match="read with case lower, and that of the training with case keep"):
        kept_case.infer(em.Corpus(text))
    assert kept_case.infer(em.Corpus(text, case="keep")).tobytes() == kept_case.infer(text).tobytes()
    plain, phrases = made.train(em.Corpus(text), threads=1), PhraseList([("new", "york")])
    for more, told in [
        ({"tokenizer": "whitespace"}, "with tokenizer whitespace, and that of the training with tokenizer words"),
        ({"phrases": phrases}, "with joiner _, and that of the training with no phrases joined"),
    ]:
        with pytest.raises(SettingError, match=told):
            plain.infer(em.Corpus(text, **more))
    joined = made.train(em.Corpus(text, phrases=phrases), threads=1)
    with pytest.raises(SettingError, match="with no phrases joined, and that of the training with joiner _"):
        joined.infer(em.Corpus(text))


def test_texts_without_any_word_are_zeros_however_they_come(tmp_path):
    (tmp_path / "t").write_text("\n ,\n\n.\n")
    for documents, lines, items in (("auto", 4, 2), ("lines", 4, 3), ("blocks", 2, 2)):
        model = em.ParagraphDBOW(**{**SMALL, "epochs": 2, "documents": documents}).train(em.Corpus(["a b"]))
        assert model.infer(em.Corpus(tmp_path / "t")).shape == (lines, 8)
        assert model.infer(em.Corpus(["", " ,\n."])).shape == (items, 8)
        assert model.infer(["", " ,\n."]).shape == (2, 8)
