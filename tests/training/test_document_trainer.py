"""Document models: what a document is, tags, threads, saved models, and reproducible inference."""

import json

import numpy as np
import pyarrow
import pytest
from interrupted_runs import table_bytes

import embeddings as em
from embeddings.corpora.documents import corpus_documents
from embeddings.corpora.phrases import Phrase, PhraseList
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, FormatError, OutputError, SettingError
from embeddings.models import model_files
from embeddings.support import mapped_files
from embeddings.support.arrow import write_table
from embeddings.testing import check_trainer
from embeddings.training import document_trainer
from embeddings.training.training_data import prepare

TRAINERS = [
    (em.ParagraphDBOW, {}),
    pytest.param(em.ParagraphDBOW, {"train_words": True}, marks=pytest.mark.slow),
    (em.ParagraphDM, {}),
    (em.ParagraphDM, {"combine": "sum", "learning_rate": 0.025}),
    pytest.param(em.ParagraphDM, {"combine": "concat"}, marks=pytest.mark.slow),
]
IDS = ["dbow", "dbow-words", "mean", "sum", "concat"]
EACH_TRAINER = pytest.mark.parametrize(("trainer", "options"), TRAINERS, ids=IDS)
SMALL = {"dim": 8, "min_count": 1, "subsample": 0, "epochs": 30}
PLACES, THINGS = ("sea", "hill", "town"), 12


def texts(count=240, seed=1):
    """Texts about one of three places, each with its own words among common ones."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        place = PLACES[number % 3]
        yield " ".join(f"{place}{rng.integers(THINGS)} w{rng.integers(9)}" for _ in range(5))


@pytest.mark.slow
@EACH_TRAINER
def test_contract_with_all_options(trainer, options):
    plain = {"window": 5, "learning_rate": 0.025}  # plain DBOW has no window, and takes no other
    check_trainer(trainer, **(plain if trainer is em.ParagraphDBOW and not options else options))


@pytest.mark.slow
@EACH_TRAINER
def test_documents_of_one_place_are_nearest_neighbours(trainer, options):
    """Context words say nothing about the place, so with a window of 1 only the document does."""
    window = {"window": 1} if trainer is em.ParagraphDM or options else {}
    configured = trainer(**{**SMALL, **options, "epochs": 100, "learning_rate": 0.05, **window})
    model = configured.train(em.Corpus(list(texts())), threads=1)
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


@EACH_TRAINER
def test_inferred_vectors_depend_only_on_text_and_seed_and_change_nothing(trainer, options, tmp_path):
    model = trainer(**{**SMALL, **options, "subsample": 0.01, "epochs": 4}).train(em.Corpus(list(texts())), threads=2)
    queries = [*texts(150, seed=3), "", "unknown words alone", "sea1"]
    before = table_bytes(model)
    found = model.infer(queries, threads=1, seed=5)
    assert found.dtype == np.float32
    assert found.shape == (153, 8)
    assert not found[150:152].any()
    assert found[:150].any(axis=1).all()
    assert model.infer(queries, threads=3, seed=5).tobytes() == found.tobytes()
    assert model.infer(queries[::-1], threads=2, seed=5)[::-1].tobytes() == found.tobytes()
    assert model.infer([queries[7]], seed=5).tobytes() == found[7].tobytes()
    assert model.infer([text.split() for text in queries[:9]], seed=5).tobytes() == found[:9].tobytes()
    assert model.infer(queries[7:8], seed=6).tobytes() != found[7].tobytes()
    assert model.infer(queries[7:8], seed=5, epochs=9).tobytes() != found[7].tobytes()
    assert table_bytes(model) == before
    model.save(tmp_path / "m")
    assert em.load_model(tmp_path / "m").infer(queries, seed=5).tobytes() == found.tobytes()


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_documents_with_the_same_tag_share_a_vector(threads, shuffle, tmp_path):
    """Each tag has its own word, to which its vector must be nearest."""
    path = tmp_path / "d.jsonl"
    rng = np.random.default_rng(1)
    tags = rng.permutation(np.repeat([f"tag{i}" for i in range(9)], 30)).tolist()
    path.write_text("".join(json.dumps({"text": f"own{t} " * 20, "tag": t}) + "\n" for t in tags))
    trainer = em.ParagraphDBOW(dim=16, min_count=1, subsample=0, epochs=30, learning_rate=0.1, shuffle=shuffle)
    model = trainer.train(em.Corpus(path, text_column="text", tag_column="tag"), threads=threads)
    assert model.documents.words == list(dict.fromkeys(tags))
    scores = model.documents.matrix @ model.vectors[[f"own{t}" for t in model.documents.words]].T
    assert (scores.argmax(axis=1) == np.arange(9)).all()


def document_parts(source, unit="auto", **columns):
    encoded = em.Corpus(source, **columns).encode()
    found = corpus_documents(encoded, unit)
    return np.diff(found.borders).tolist(), found.rows.tolist(), found.tags


def test_units_of_documents(tmp_path):
    (tmp_path / "t.txt").write_text("a b\nc\n\nd e f\n\n\ng\n")
    assert document_parts(tmp_path / "t.txt") == ([2, 1, 0, 3, 0, 0, 1], list(range(7)), None)
    assert document_parts(tmp_path / "t.txt", "lines") == document_parts(tmp_path / "t.txt")
    assert document_parts(tmp_path / "t.txt", "blocks") == ([3, 3, 1], [0, 1, 2], None)
    assert document_parts(["a b\nc", "d", ""]) == ([3, 1, 0], [0, 1, 2], None)
    assert document_parts(["a b\nc", "d", ""], "lines") == ([2, 1, 1, 0], [0, 1, 2, 3], None)
    assert document_parts([["a", "b"], ["c"]]) == ([2, 1], [0, 1], None)
    (tmp_path / "t.csv").write_text('text,tag\n"a b\nc",y\nd,x\ne,y\n')
    lengths, rows, tags = document_parts(tmp_path / "t.csv", text_column="text", tag_column="tag")
    assert (lengths, rows, tags.to_pylist()) == ([3, 1, 1], [0, 1, 0], ["y", "x"])
    lengths, rows, tags = document_parts(tmp_path / "t.csv", "lines", text_column="text", tag_column="tag")
    assert (lengths, rows, tags.to_pylist()) == ([2, 1, 1, 1], [0, 0, 1, 0], ["y", "x"])


@EACH_TRAINER
def test_documents_are_read_in_random_order_by_default(trainer, options):
    matrices = [
        trainer(**{**SMALL, **options, "epochs": 2, **order}).train(em.Corpus(texts()), threads=1).documents.matrix
        for order in ({}, {"shuffle": True}, {"shuffle": False})
    ]
    assert np.array_equal(matrices[0], matrices[1])
    assert not np.array_equal(matrices[0], matrices[2])


@EACH_TRAINER
def test_documents_without_a_known_word_are_zeros(trainer, options):
    model = trainer(**{**SMALL, **options, "min_count": 2, "epochs": 2}).train(
        em.Corpus(["a b a b", "", "once", "a b"])
    )
    rows = model.documents.matrix
    assert rows[[0, 3]].any(axis=1).all()
    assert not rows[[1, 2]].any()


@EACH_TRAINER
@pytest.mark.parametrize(
    "documents", [["a"], ["a a a"], [["a", "b"]], ["x y " * 30_000], ["日本 a", "café \U0001f600 a"]]
)
def test_very_short_and_long_documents(trainer, options, documents):
    model = trainer(**{"dim": 3, "min_count": 1, "epochs": 2, "subsample": 0, **options}).train(
        em.Corpus(documents), threads=2
    )
    assert np.isfinite(model.documents.matrix).all()
    assert model.documents.matrix.any(axis=1).all()
    assert np.isfinite(model.infer(documents)).all()


def test_shares_of_threads_begin_at_documents():
    corpus = em.Corpus(["w " * 10 + "\n" + "w " * 10] * 10)
    trainer = em.ParagraphDBOW(min_count=1)
    assert trainer.plan(prepare(trainer, corpus, threads=3)).stream.bounds(3) == [0, 66, 133, 200]
    data = prepare(trainer, em.Corpus(["w " * 10] * 1000), threads=3)
    assert trainer.plan(data).stream.bounds(3) == [0, 3330, 6670, 10_000]


def test_a_large_table_is_memory_mapped(monkeypatch, tmp_path):
    trainer = em.ParagraphDBOW(**{**SMALL, "epochs": 2})
    expected = trainer.train(em.Corpus(list(texts())), threads=1).documents.matrix
    monkeypatch.setattr(document_trainer, "MAX_MEMORY_BYTES", 1000)
    model = trainer.train(em.Corpus(list(texts())), threads=1)
    base = model.documents.matrix
    while not isinstance(base, np.memmap):
        base = base.base
    np.testing.assert_array_equal(model.documents.matrix, expected)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(em.load_model(tmp_path / "m").documents.matrix, expected)


def test_no_disk_space_for_a_large_table(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(document_trainer, "MAX_MEMORY_BYTES", 1000)
    monkeypatch.setattr(mapped_files.os, "posix_fallocate", full, raising=False)
    with pytest.raises(OutputError, match=r"240 documents, 15,360 bytes.*No space left"):
        em.ParagraphDBOW(**SMALL).train(em.Corpus(list(texts())))


def test_broken_models_are_refused():
    for change, message in (
        (lambda model: model.tables.update(output=model.tables["output"][:1]), r"'output'.*\(2, 8\).*\(1, 8\)"),
        (lambda model: model.settings.update(strange=1), "'strange'"),
        (lambda model: model.record.pop("text"), "record 'text' of the paragraph"),
    ):
        model = em.ParagraphDM(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
        change(model)
        with pytest.raises(FormatError, match=message):
            model.infer(["a"])


@EACH_TRAINER
@pytest.mark.parametrize("claimed", [4, 9, 40])
def test_a_wrong_dim_is_refused(trainer, options, claimed):
    """Even if all other tables fit the setting; kernels would read out of bounds."""
    model = trainer(**{**SMALL, **options, "epochs": 1}).train(em.Corpus(["a b a"]))
    model.settings["dim"] = claimed
    for name in {"output", "nothing"} & set(model.tables):
        model.tables[name] = np.zeros((*model.tables[name].shape[:-1], claimed), np.float32)
    with pytest.raises(FormatError, match=f"dim.*8.*{claimed}"):
        model.infer(["a"])


def test_invalid_arguments_of_infer():
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 1}).train(em.Corpus(["a b a"]))
    for texts_argument, message in [
        ("a b", "texts must be a list of texts"),
        (3, "texts must be a list of texts"),
        ({"text": "a"}, "texts must be a list of texts"),
        ({"a"}, r"set.*order"),
    ]:
        with pytest.raises(SettingError, match=message):
            model.infer(texts_argument)
    for arguments in ({"epochs": 0}, {"epochs": -1}, {"threads": 0}, {"seed": -1}, {"epochs": 1.5}):
        with pytest.raises(SettingError, match=next(iter(arguments))):
            model.infer(["a"], **arguments)
    with pytest.raises(CorpusError):
        model.infer([{"number": 1}])
    with pytest.raises(CorpusError):
        model.infer(["a \ud800"])
    assert model.infer([]).shape == (0, 8)
    assert not model.infer(["", " ,", None]).any()


def test_text_is_tokenized_as_in_training():
    corpus = em.Corpus(["The End. the end"] * 9, tokenizer="whitespace", case="keep")
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus)
    assert sorted(model.vectors.words) == ["End.", "The", "end", "the"]
    assert not model.infer(["END, THE."]).any()
    assert model.infer(["End."]).any()


def test_settings_that_exclude_each_other():
    with pytest.raises(SettingError, match=r"shrink_window.*train_words"):
        em.ParagraphDBOW(shrink_window=False)
    with pytest.raises(SettingError, match=r"window.*negative_sharing.*train_words"):
        em.ParagraphDBOW(window=10)
    for options in ({"train_words": True}, {"negative_sharing": "batch"}):
        assert em.ParagraphDBOW(window=10, **options).window == 10
    assert em.ParagraphDM(combine="concat").shrinks_window is False
    assert em.ParagraphDM(combine="concat", shrink_window=True).shrinks_window is True
    assert em.ParagraphDM().shrinks_window is True
    for options, noise in ({}, 5), ({"negatives": 1}, 1), ({"negative_sharing": "batch"}, 3), ({"combine": "mean"}, 5):
        trainer = em.ParagraphDM(**{"combine": "concat", **options})
        objective = trainer.new_objective(em.corpora.Vocabulary(["a"], np.array([1])))
        assert trainer.document_noise(objective) == noise
        if trainer.combine == "concat":
            weights = trainer.new_buffers(objective.max_targets, 16, 1).weights[1 : 1 + noise]
            assert weights == pytest.approx(trainer.negatives / noise)


@pytest.mark.parametrize("mode", ["replace", "alternate"])
def test_phrases_of_the_training_are_joined_in_inference(mode, tmp_path):
    """In all passes, also by a saved model, and independently of other texts."""
    phrases = PhraseList([Phrase(("new", "york")), Phrase(("new", "york", "times"), step=2), ("york", "times")])
    text = ["New York and new york", "the New York Times", "york times", "new times"] * 5
    corpus = em.Corpus(text, phrases=phrases, joiner="+", phrase_mode=mode)
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus, threads=1)
    assert {"new+york", "new+york+times", "york+times"} <= set(model.vectors.words)
    model.save(tmp_path / "m")
    queries = ["New York", "the New York Times.", "York times", "york", "times new york", "nothing"]
    joined = [["new+york"], ["the", "new+york+times"], ["york+times"], ["york"], ["times", "new+york"], []]
    plain = em.load_model(tmp_path / "m")
    plain.record["text"]["phrases"] = plain.phrases = None
    expected = plain.infer(joined, seed=3)
    assert expected[:3].any(axis=1).all()
    for loaded in (model, em.load_model(tmp_path / "m")):
        assert loaded.infer(queries, seed=3).tobytes() == expected.tobytes()
        assert loaded.infer(["york"], seed=3).tobytes() == expected[3].tobytes()
    assert model.infer(em.Corpus(queries, phrases=phrases, joiner="+"), seed=3).tobytes() == expected.tobytes()


def test_phrases_of_cached_corpora_and_fixed_vocabularies(tmp_path, own_cache):
    (tmp_path / "t").write_text("in new york\n" * 9)
    for options in ({}, {}, {"vocabulary": Vocabulary(["new_york", "in"], [9, 9])}):
        corpus = em.Corpus(tmp_path / "t", phrases=PhraseList([("new", "york"), ("no", "where")]), **options)
        model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus, threads=1)
        assert model.infer(["new york", "york"]).any(axis=1).tolist() == [True, False]
        assert model.phrases.to_pylist() == [{"words": ["new", "york"], "pass": 1}]


def test_broken_and_missing_phrases_are_refused(tmp_path):
    corpus = em.Corpus(["new york"] * 5, phrases=PhraseList([("new", "york")]))
    model = em.ParagraphDBOW(**{**SMALL, "epochs": 2}).train(corpus)
    model.save(tmp_path / "m")
    file = tmp_path / "m" / model_files.PHRASES
    file.write_bytes(b"no")
    with pytest.raises(FormatError, match=r"phrases\.arrow"):
        em.load_model(tmp_path / "m")
    for column in (["new"], ["new", ""], None):
        words = pyarrow.array([column], pyarrow.large_list(pyarrow.large_string()))
        write_table(pyarrow.table({"words": words, "pass": pyarrow.array([1], pyarrow.int8())}), file)
        with pytest.raises(FormatError, match="phrase"):
            em.load_model(tmp_path / "m").infer(["new york"])
    write_table(pyarrow.table({"tag": ["x"]}), file)
    with pytest.raises(FormatError, match="tag"):
        em.load_model(tmp_path / "m")
    file.unlink()
    with pytest.raises(SettingError, match="without its phrases"):
        em.load_model(tmp_path / "m").infer(["new york"])
    model.record["text"]["phrases"] = {"joiner": 3}
    with pytest.raises(FormatError, match="joiner"):
        model.infer(["new york"])


def test_a_corpus_with_other_text_settings_is_refused():
    trainer = em.ParagraphDBOW(**{**SMALL, "epochs": 2})
    text = ["The End of new york"] * 5
    kept_case = trainer.train(em.Corpus(text, case="keep"), threads=1)
    with pytest.raises(SettingError, match=r"case.*'keep'.*got 'lower'"):
        kept_case.infer(em.Corpus(text))
    assert kept_case.infer(em.Corpus(text, case="keep")).tobytes() == kept_case.infer(text).tobytes()
    plain, phrases = trainer.train(em.Corpus(text), threads=1), PhraseList([("new", "york")])
    for options, message in [
        ({"tokenizer": "whitespace"}, r"tokenizer.*'words'.*got 'whitespace'"),
        ({"phrases": phrases}, r"joiner.*None.*got '_'"),
    ]:
        with pytest.raises(SettingError, match=message):
            plain.infer(em.Corpus(text, **options))
    joined = trainer.train(em.Corpus(text, phrases=phrases), threads=1)
    with pytest.raises(SettingError, match=r"joiner.*'_'.*got None"):
        joined.infer(em.Corpus(text))


def test_texts_without_words_are_zeros(tmp_path):
    (tmp_path / "t").write_text("\n ,\n\n.\n")
    for documents, lines, items in (("auto", 4, 2), ("lines", 4, 3), ("blocks", 2, 2)):
        model = em.ParagraphDBOW(**{**SMALL, "epochs": 2, "documents": documents}).train(em.Corpus(["a b"]))
        assert model.infer(em.Corpus(tmp_path / "t")).shape == (lines, 8)
        assert model.infer(em.Corpus(["", " ,\n."])).shape == (items, 8)
        assert model.infer(["", " ,\n."]).shape == (2, 8)
