"""Files of plain text as documents, and their names as tags."""

import numpy as np
import pytest

import embeddings as em
from embeddings.analysis.usage_change import DocumentGroups
from embeddings.corpora.documents import corpus_documents, first_documents, unit_starts


@pytest.fixture
def novels(tmp_path):
    for author, books in {"dickens": 3, "tolstoy": 2}.items():
        (tmp_path / author).mkdir()
        for number in range(books):
            text = "".join(f"{author} paragraph {i} of book{number}\nsecond line\n\n" for i in range(number + 1))
            (tmp_path / author / f"{number}.txt").write_text("\n" * number + text)
    (tmp_path / "dickens" / "empty.txt").write_text("\n\n")
    return tmp_path


@pytest.mark.parametrize("threads", [1, 2])
def test_documents_are_whole_files_with_the_tags_of_their_names(novels, threads, monkeypatch):
    monkeypatch.setattr("embeddings.corpora.text_scanner.CHUNK_SIZE", 50)  # so that threads scan parts of files
    encoded = em.Corpus(novels, tag_column=["folder", "file"]).encode(threads=threads)
    words = [encoded.vocabulary.words[i] for i in encoded.ids]
    documents = corpus_documents(encoded, "files")
    texts = [words[start:stop] for start, stop in zip(documents.borders, documents.borders[1:], strict=False)]
    assert [(text[0], len([one for one in text if one == "second"])) for text in texts] == [
        ("dickens", 1), ("dickens", 2), ("dickens", 3), ("tolstoy", 1), ("tolstoy", 2),
    ]  # fmt: skip
    tags = [documents.tags[row].as_py() for row in documents.rows.tolist()]
    assert tags == ["dickens", "0.txt", "dickens", "1.txt", "dickens", "2.txt", "tolstoy", "0.txt", "tolstoy", "1.txt"]
    assert corpus_documents(encoded, "blocks").size == 9
    assert first_documents(encoded, "files").tolist() == [0, 1, 3, 6, 7]
    assert len(unit_starts(em.Corpus(novels, lines="paragraph").encode(), "files")) == 6


def test_tables_after_files_keep_their_tags(novels, tmp_path):
    (tmp_path / "z.csv").write_text("text,folder\nrow one,poems\nrow two,plays\n")
    encoded = em.Corpus(novels / "tolstoy", tmp_path / "z.csv", novels / "dickens", tag_column="folder").encode()
    assert encoded.single_tags.to_pylist() == ["tolstoy"] * 3 + ["poems", "plays"] + ["dickens"] * 6


def test_sources_that_are_no_files_of_plain_text_are_refused(novels, tmp_path):
    (tmp_path / "rows.csv").write_text("text,year\na b,1\n")
    for source in (tmp_path / "rows.csv", ["a b", "c"], novels):
        with pytest.raises(em.EmbeddingsError, match="plain text"):
            corpus_documents(em.Corpus(source).encode(), "files")
    for column in ("year", "name"):
        with pytest.raises(em.EmbeddingsError, match=f"(?s){column}.*folder"):
            em.Corpus(novels / "tolstoy", tag_column=column).encode()
    with pytest.raises(em.EmbeddingsError, match="folder"):
        em.Corpus(tmp_path / "rows.csv", tag_column="folder").encode()


def test_models_resamples_and_comparisons_take_files(tmp_path):
    for author in ("dickens", "tolstoy"):
        (tmp_path / author).mkdir()
        for number in range(20):
            (tmp_path / author / f"{number}").write_text(f"{author} and his words\n\n{author} again {number}\n")
    corpus, options = em.Corpus(tmp_path, tag_column="folder"), {"dim": 2, "min_count": 1, "epochs": 1}
    model = em.ParagraphDBOW(documents="files", **options).train(corpus, threads=1)
    assert model.documents.words == ["dickens", "tolstoy"]
    assert em.ParagraphDBOW(documents="files", **options).train(em.Corpus(tmp_path)).infer(corpus).shape == (40, 2)
    words = em.SkipGram(**options).train(corpus, threads=1)
    runs = em.analysis.stability(words, corpus, resamples=2, seeds=0, resample_by="files", threads=1)
    assert len(runs.resamples) == 2
    settings = {"permutations": 4, "occurrences": 1, "top": 1, "threads": 1, "documents": "files"}
    changed = em.analysis.compare_usage(corpus, ("dickens", "tolstoy"), em.SkipGram(**options), **settings)
    assert (changed.documents, len(changed.words)) == ((20, 20), changed.n_words)
    with pytest.raises(em.EmbeddingsError, match="dickens, tolstoy"):
        em.analysis.compare_usage(corpus, ("dickens", "austen"), em.SkipGram(**options), **settings)
    groups = DocumentGroups.of(corpus.encode(), np.repeat([0, 1], 20), "files")
    assert groups.tokens.tolist() == [7] * 40
