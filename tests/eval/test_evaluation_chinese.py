"""Categories of Chinese names and word similarity: models of raw text against models of text segmented by jieba."""

import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from ngram_search import find_all_ngrams

import embeddings as em
from embeddings.plugins.sembei.sembei import code_points, trie_of

DATA = Path(os.environ.get("EMBEDDINGS_DATA", "data")) / "chinese"
CHARACTERS = 6_000_000
LISTS = {"person": "person.txt", "place": "place.txt", "organization": "organization.txt"}
TAGS = {
    "person": "nr nrf nrj", "place": "ns nsf", "organization": "nt nto nts nth ntu nis nit ntc", "food": "nf",
    "occupation": "nnt nnd", "biology": "gb nba nbp", "medicine": "nhd nhm", "science": "gi gm gp gc gg nmc",
}  # fmt: skip


def names():
    """Names of two to eight characters that have one category in the lists and the dictionary."""
    kinds, found = {tag: kind for kind, tags in TAGS.items() for tag in tags.split()}, defaultdict(set)
    for kind, file in LISTS.items():
        for line in (DATA / "hanlp" / file).read_text("utf-8").splitlines():
            found[line.split()[0].lower()].add(kind)
    for line in (DATA / "hanlp" / "CoreNatureDictionary.txt").read_text("utf-8").splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] in kinds:  # one part of speech
            found[fields[0].lower()].add(kinds[fields[1]])
    return {word: kind.pop() for word, kind in found.items() if len(kind) == 1 and 2 <= len(word) <= 8}


def occurring(words, text, least):
    """The words that occur at least `least` times in a text, however it is segmented."""
    table, (points, _) = trie_of(words), code_points([text])
    places = np.empty((len(points), table.longest), np.int32)
    find_all_ngrams(table, points, places)
    counts = np.bincount(places[places >= 0], minlength=len(words))
    return [word for word, count in zip(words, counts, strict=True) if count >= least]


@pytest.mark.measure
@pytest.mark.slow
def test_raw_text_scores_higher_than_segmented_text(tmp_path):
    if not DATA.is_dir():
        pytest.skip("the texts are not part of the project; EMBEDDINGS_DATA says where they are")
    jieba = pytest.importorskip("jieba", reason="no segmenter; pip install 'embeddings-toolkit[jieba]'")
    import pyarrow

    text = pyarrow.input_stream(DATA / "zhwiki-40MB.txt.zst", compression="zstd").read().decode()[:CHARACTERS]
    category = names()
    known = occurring(list(category), text.lower(), 10)
    (tmp_path / "names").write_text("".join(f"{word}\t{category[word]}\n" for word in known))
    (tmp_path / "raw").write_text(text)
    (tmp_path / "cut").write_text("\n".join(" ".join(jieba.cut(line)) for line in text.split("\n")))
    shared = {"epochs": 5, "subsample": 1e-4, "seed": 1, "negatives": 5}
    raw = em.train("sembei", tmp_path / "raw", per_length="10000,100000", **shared)
    cut = em.train("skipgram", em.Corpus(tmp_path / "cut", tokenizer="whitespace"), **shared)
    found = {}
    for name, model in (("raw", raw), ("cut", cut)):
        for one in em.evaluate(model, categories=tmp_path / "names", similarity=DATA / "wordsim-297.txt"):
            found[name, one.measure, one.section] = one
    assert found["raw", "micro-f1", None].covered > found["cut", "micro-f1", None].covered
    assert found["raw", "micro-f1", None].low > found["cut", "micro-f1", None].high
    assert found["raw", "macro-f1", None].value > found["cut", "macro-f1", None].value
    assert found["raw", "spearman", None].value > found["cut", "spearman", None].value - 0.05
