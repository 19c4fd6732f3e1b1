"""Documents with several tags: steps against twins, whole models, inference with tags, and gensim."""

from collections import Counter
from itertools import pairwise

import naive
import numpy as np
import pytest
from kernel_helpers import BLOCK_TOLERANCE, tallying_buffers
from paragraph_blocks import WORDS, filled_block, groups_of, positions_with_documents, random_tables

import embeddings as em
from embeddings.corpora.documents import corpus_documents
from embeddings.errors import CorpusError, SettingError
from embeddings.kernels.block import FIRST, LAST
from embeddings.kernels.document_kernels import TagRows, learn_block
from embeddings.kernels.loss_tally import EXAMPLES, LOSS
from embeddings.kernels.random_numbers import shared_noise_count
from embeddings.kernels.window import new_slot_buffers
from embeddings.kernels.window_batch import new_window_buffers
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.plugins import paragraph_dbow as dbow
from embeddings.plugins.paragraph_dm import CombinedContexts, ConcatenatedBatches, ConcatenatedWindows

TAGS = [[0, 4], [1], [2, 4, 5], [3, 5]]  # of document 0, 1, ...; two tags belong to two documents
PAIRS = [[0, 4], [1, 4], [2, 5], [3, 5]]
N_TAGS = 6
SMALL = {"dim": 8, "min_count": 1, "subsample": 0, "epochs": 30}


def tag_rows(tags):
    starts = np.cumsum([0, *map(len, tags)])
    return TagRows(starts, np.array([tag for one in tags for tag in one]))


@pytest.mark.parametrize("by_words", [False, True], ids=["groups", "words"])
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=pytest.mark.slow)])
def test_each_tag_predicts_the_words_of_dbow(dtype, by_words):
    documents, output = random_tables(dtype, N_TAGS, WORDS)
    noise, tolerance = 5 if by_words else shared_noise_count(5), 1e-11 if dtype == np.float64 else 2e-5
    block, buffers = filled_block(noise), tallying_buffers(3, 4 * (1 + noise), documents.width, dtype)
    tables = documents.table, output.table, NegativeSamples(output.table, 5)
    operands = (
        dbow.SingleWords(*tables, tags=tag_rows(TAGS))
        if by_words
        else dbow.WordGroups(*tables, noise, 5, tag_rows(TAGS))
    )
    learn_block(block, operands, buffers, 0.05)
    if by_words:
        loss = pairs = 0
        for document, (i, line, _, _, samples) in positions_with_documents(block):
            rows = [documents.twin[tag] for tag in TAGS[document]]
            targets, weights = naive.window_targets(output.twin, line[i], samples)
            loss += naive.learn(rows, rows, targets, 1, weights, 0.05)
            pairs += len(rows)
    else:
        groups = [(TAGS[document], *others) for document, *others in groups_of(block, noise)]
        loss, pairs = naive.dbow(documents.twin, output.twin, groups, 0.05, negatives=5)
    documents.check(tolerance)
    output.check(tolerance)
    assert buffers.tally[EXAMPLES] == pairs > 1.4 * (block.cursor[LAST] - block.cursor[FIRST])
    assert buffers.tally[LOSS] == pytest.approx(loss, rel=tolerance)


@pytest.mark.parametrize("averages_tags", [True, False], ids=["average", "each"])
@pytest.mark.parametrize("is_mean", [True, False], ids=["mean", "sum"])
def test_tags_of_dm_are_averaged_or_count_each(is_mean, averages_tags):
    """Every row gets the whole gradient of the hidden row; in the type of trained tables, whose kernel is shared."""
    documents, words, output = random_tables(np.float32, N_TAGS, WORDS, WORDS)
    block, buffers = filled_block(5), tallying_buffers(1, 6, output.width, np.float32, contexts=13, rows=2)
    objective = NegativeSamples(output.table, 5)
    operands = CombinedContexts(documents.table, words.table, objective, is_mean, False, tag_rows(TAGS), averages_tags)
    learn_block(block, operands, buffers, 0.05)
    for document, (i, line, start, stop, samples) in positions_with_documents(block):
        contexts = [words.twin[line[c]] for c in range(start, stop) if c != i]
        tags = [documents.twin[tag] for tag in TAGS[document]]
        combined = np.mean(tags, axis=0) if averages_tags else np.sum(tags, axis=0)
        count = len(contexts) + (1 if averages_tags else len(tags))
        hidden = (np.sum([*contexts, combined], axis=0)) / (count if is_mean else 1)
        gradient = np.zeros_like(hidden)
        targets, weights = naive.window_targets(output.twin, line[i], samples)
        naive.learn([hidden], [gradient], targets, 1, weights, 0.05)
        for row in (*contexts, *tags):
            row += gradient
    for table in (documents, words, output):
        table.check(BLOCK_TOLERANCE[np.float32])


@pytest.mark.parametrize("past_only", [False, True], ids=["both", "past"])
@pytest.mark.parametrize("in_batches", [True, False], ids=["batches", "windows"])
def test_tags_of_dm_are_concatenated(in_batches, past_only):
    slots = 2 + (5 if past_only else 10)
    documents, words, output = random_tables(np.float32, N_TAGS, WORDS + 1, WORDS * slots)
    table, twin = output.table.reshape(WORDS, -1), output.twin.reshape(WORDS, -1)
    block, per_draw = filled_block(3, windows_per_draw=4 if in_batches else 1), 4 if in_batches else 1
    buffers = (
        new_window_buffers(4, 3, words.width, slots=slots)
        if in_batches
        else new_slot_buffers(4, slots, words.width, np.float32)
    )
    tables = documents.table, words.table[:-1], words.table[-1:], NegativeSamples(table, 3)
    kind = ConcatenatedBatches if in_batches else ConcatenatedWindows
    operands = kind(*tables, 5, per_draw, past_only, tag_rows(PAIRS))
    learn_block(block, operands, buffers, 0.01)
    for batch in naive.batches(positions_with_documents(block), 5, per_draw):
        windows, centres = [], []
        for document, (i, line, start, stop, _) in batch:
            places = range(i - 5, i if past_only else i + 6)
            known = range(start, i if past_only else stop)
            contexts = [words.twin[line[c] if c in known else -1] for c in places if c != i]
            windows.append([*(documents.twin[tag] for tag in PAIRS[document]), *contexts])
            centres.append(line[i])
        if in_batches:
            naive.learn_batch(twin, windows, centres, batch[0][1][4], 0.01)
            continue
        hidden = np.concatenate(windows[0])
        gradient = np.zeros_like(hidden)
        targets, weights = naive.window_targets(twin, centres[0], batch[0][1][4])
        naive.learn([hidden], [gradient], targets, 1, weights, 0.01)
        for row, part in zip(windows[0], np.split(gradient, slots), strict=True):
            row += part
    for one in (documents, words, output):
        one.check(1e-4)


ROWS = [
    {"text": f"{subject}{n % 7} {subject}{n % 5} w{n % 9} by{author} w{n % 4}", "tags": [f"d{n}", subject, author]}
    for n, (subject, author) in enumerate([("sea", "eve"), ("hill", "eve"), ("sea", "bob"), ("hill", "bob")] * 15)
]


def corpus(rows=ROWS, **settings):
    return em.Corpus(rows, **{"text_column": "text", "tag_column": "tags", **settings})


def test_documents_have_the_rows_of_their_tags(tmp_path):
    rows = [
        {"text": "a b\nc", "tags": ["x", "y"]},
        {"text": "d", "tags": ["y"]},
        {"text": "e", "tags": ["z", "x", "z"]},
    ]
    documents = corpus_documents(corpus(rows).encode())
    assert documents.tags.to_pylist() == ["x", "y", "z"]
    assert [documents.rows[first:last].tolist() for first, last in pairwise(documents.starts)] == [[0, 1], [1], [2, 0]]
    by_line = corpus_documents(corpus(rows).encode(), "lines")
    assert by_line.tag_counts.tolist() == [2, 2, 1, 2]
    assert by_line.rows.tolist() == [0, 1, 0, 1, 1, 2, 0]
    with pytest.raises(CorpusError, match="document 1 has no tag"):
        corpus_documents(corpus([rows[0], {"text": "a", "tags": [""]}]).encode())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("paragraph-dbow", {}),
        ("paragraph-dm", {}),
        ("paragraph-dm", {"tag_combination": "sum"}),
        ("paragraph-dm", {"combine": "concat", "tag_count": 3, "window": 2}),
    ],
    ids=["dbow", "mean", "sum", "concat"],
)
def test_models_of_several_tags(name, options, tmp_path):
    """Words are counted once; documents, subjects and authors have vectors; the model is saved and read again."""
    settings = {**SMALL, **options, "epochs": 60, "learning_rate": 0.05}
    model = em.train(name, corpus(), threads=1, **settings)
    assert model.vocabulary.counts.sum() == sum(len(row["text"].split()) for row in ROWS)
    assert model.documents.words == list(dict.fromkeys(tag for row in ROWS for tag in row["tags"]))
    if "combine" not in options:  # concatenated tags are in spaces of their own
        near = [tag for tag, _ in model.documents.most_similar("sea", top=20) if tag.startswith("d")]
        subjects = Counter(ROWS[int(tag[1:])]["tags"][1] for tag in near)
        assert subjects["sea"] > subjects["hill"], subjects
    model.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    tags = [["sea", "eve"], ["hill", "bob"]]
    texts = ["sea1 w3 sea2", "sea1 w3 sea2"]
    vectors = loaded.infer(texts, tags=tags)
    np.testing.assert_array_equal(vectors, model.infer(texts, tags=tags))
    assert (vectors[0] == vectors[1]).all() == (name == "paragraph-dbow")  # whose tags predict words each alone
    again = em.train(name, corpus(), threads=1, **settings)
    np.testing.assert_array_equal(again.documents.matrix, model.documents.matrix)


def test_inference_with_tags_trains_only_the_new_row():
    """The vector is that of a document whose words are predicted with constant rows of its tags."""
    model = em.train("paragraph-dm", corpus(), threads=1, **SMALL, tag_combination="sum")
    before = model.documents.matrix.copy()
    text = "sea1 w3 byeve"
    (alone,), (known,) = model.infer([text]), model.infer([text], tags=[["eve"]])
    assert not np.array_equal(alone, known)
    for tags in ["nobody"], ["nobody", ""], []:
        np.testing.assert_array_equal(model.infer([text], tags=[tags])[0], alone)
    for tags in ["eve", "eve"], ["eve", "nobody"]:
        np.testing.assert_array_equal(model.infer([text], tags=[tags])[0], known)
    rows = [{"text": text, "tags": ["new", "eve"]}, {"text": text, "tags": ["d1"]}]  # the first tag is the name
    np.testing.assert_array_equal(model.infer(corpus(rows)), [known, alone])
    for threads, texts in (1, 100), (3, 300):
        many = model.infer([text] * texts, tags=[["eve"], []] * (texts // 2), threads=threads)
        np.testing.assert_array_equal(many, [known, alone] * (texts // 2))
    np.testing.assert_array_equal(model.documents.matrix, before)


def test_concatenated_tags_are_required_in_inference():
    settings = {**SMALL, "epochs": 2, "window": 2, "combine": "concat"}
    model = em.train("paragraph-dm", corpus(), threads=1, **settings, tag_count=3)
    assert model.infer(["sea1 w3"], tags=[["sea", "eve"]]).any()
    for tags in None, [["sea"]], [["sea", "nobody"]]:
        with pytest.raises(CorpusError, match=r"document 0 has .*expected 2"):
            model.infer(["sea1 w3"], tags=tags)
    with pytest.raises(CorpusError, match="document 0 has 3 tags, expected tag_count=1"):
        em.train("paragraph-dm", corpus(), **settings)
    for tags in "eve", [["eve"]], [["eve"], "bob"], [["eve"], [5.0]], 7:
        with pytest.raises(SettingError, match="tags must be a list of tags for each of the 2 texts"):
            model.infer(["a", "b"], tags=tags)
    rows = [*ROWS, {"text": "w1 w2", "tags": ["x", "y", "x"]}]
    with pytest.raises(CorpusError, match="document 60 has 2 tags, expected tag_count=3"):
        em.train("paragraph-dm", corpus(rows), **settings, tag_count=3)
