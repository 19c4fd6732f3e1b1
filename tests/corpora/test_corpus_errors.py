"""Settings and sources of corpora that are refused: each error names the setting, or the source and what to do."""

import pytest

import embeddings as em
from embeddings.corpora.phrases.detection import Phrases
from embeddings.corpora.random_walks import RandomWalks
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.text_pairs import PairFormat
from embeddings.corpora.reading.word_contexts import ContextFormat
from embeddings.errors import EmbeddingsError, SettingError

LABELS, CONTEXTS = LabelFormat(), ContextFormat()
SETTINGS = [  # of a corpus, and what the message names
    ({"encoding": "zlib"}, "zlib"),
    ({"encoding": "rot13"}, "rot13"),
    ({"encoding": "no-such"}, "no-such"),
    ({"encoding": ""}, "encoding"),
    ({"encoding": "a\0b"}, "encoding"),
    ({"encoding": "undefined"}, "undefined"),
    ({"encoding_errors": "backslash"}, "encoding_errors.*replace"),
    ({"normalize": "nfd"}, "normalize.*nfkc.*nfd"),
    ({"case": "upper"}, "case.*fold.*upper"),
    ({"fold": "accents,x"}, "fold.*width.*x"),
    ({"language": "de"}, "language.*tr.*de"),
    ({"language": "tr", "case": "keep"}, "language=tr.*case=keep"),
    ({"tokenizer": "whitespace", "hyphens": "join"}, "hyphens=join.*tokenizer=words"),
    ({"hyphens": "x"}, "hyphens.*split.*x"),
    ({"emoji": "no"}, "emoji.*as-words.*no"),
    ({"tokenizer": "words:de"}, "words takes no argument"),
    ({"tokenizer": "jieba:x"}, "jieba takes no argument"),
    ({"lines": "sentences"}, "lines"),
    ({"lines": "paragraph", "labels": LABELS}, "lines"),
    ({"labels": LABELS, "tag_column": "a"}, "labels.*tag_column"),
    ({"pairs": CONTEXTS, "text_column": "a"}, "pairs.*text_column"),
    ({"phrases": "auto", "joiner": "a"}, "joiner.*letters.*'a'"),
    ({"phrases": "auto", "joiner": ""}, "joiner"),
    ({"phrases": "auto", "joiner": "\udcff"}, "joiner"),
    ({"phrases": "auto", "phrase_mode": "keep"}, "phrase_mode.*alternate.*keep"),
    ({"joiner": "+"}, "joiner.*phrases"),
    *(({name: value}, name) for name in ("rows", "max_types") for value in (0, -1, 1.5, True, "9")),
]
PHRASES = [
    ({"scoring": "npmi", "threshold": 10.0}, r"threshold.*\[-1, 1\].*10.0"),
    ({"threshold": -1.0}, r"threshold.*\[0, inf\].*-1.0"),
    ({"thresholds": "200,-1", "passes": 2}, "threshold.*-1.0"),
    ({"thresholds": "200,nan", "passes": 2}, "threshold.*nan"),
    ({"thresholds": "200,", "passes": 2}, "thresholds.*'200,'"),
    ({"thresholds": "200,100"}, "thresholds=200,100.*passes.*1"),
    ({"thresholds": "200", "threshold": 1.0}, "thresholds.*without threshold"),
    ({"min_count": 0}, "min_count"),
    ({"passes": 0}, "passes.*8"),
    ({"types": "verb"}, "types.*adjective-noun.*'verb'"),
    ({"lexicon": "tags.tsv"}, "lexicon.*types"),
    ({"types": "noun-noun", "passes": 2}, "passes.*types"),
]
PAIRS = [
    ({"kinds": "titles", "left": "a"}, "kinds.*title-body"),
    ({"kinds": ""}, "kinds"),
    ({"left": "a"}, "left_column.*right_column"),
    ({"kinds": "neighbours", "weight": "w"}, "weight_column.*kinds"),
    ({"kinds": "neighbours", "header": True}, "header.*kinds"),
]
WALKS = [
    ({"walks": 0}, "walks"),
    ({"length": 1}, "length"),
    ({"p": 0.0}, "p"),
    ({"q": -1.0}, "q"),
    ({"seed": -1}, "seed"),
]


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        *((lambda **settings: em.Corpus(["a"], **settings), *row) for row in SETTINGS),
        *((Phrases, *row) for row in PHRASES),
        *((PairFormat, *row) for row in PAIRS),
        *((lambda **settings: RandomWalks([("a", "b")], **settings), *row) for row in WALKS),
        *((LabelFormat, {"prefix": prefix}, "label_prefix") for prefix in ("a b", "")),
    ],
)
def test_settings_are_named(make, settings, message):
    with pytest.raises(SettingError, match=message):
        make(**settings)


class Frame:
    """Iterates over its column names, like a data frame."""

    columns = ("text",)

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        *((source, "path.*iterable") for source in ("", b"", b"text.txt", None, 5)),
        ({"text": ["a"]}, "mapping.*keys"),
        ({"a"}, "set.*order"),
        (Frame(), "data frame.*column names"),
        ("missing", "'missing'.*sample"),
        ("f\0", "no file"),
    ],
)
def test_sources_are_named(source, message):
    with pytest.raises(EmbeddingsError, match=message):
        em.Corpus(source)


def test_folders_and_links_are_named(tmp_path):
    with pytest.raises(EmbeddingsError, match="source"):
        em.Corpus()
    for setting in ("phrases", "vocabulary"):
        with pytest.raises(EmbeddingsError, match=r"missing.*No such file"):
            em.Corpus(["a"], **{setting: tmp_path / "missing"})
    with pytest.raises(EmbeddingsError, match=f"{tmp_path}'; hidden"):
        em.Corpus(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path)
    with pytest.raises(EmbeddingsError, match="/loop contains itself"):
        em.Corpus(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    with pytest.raises(EmbeddingsError, match=r"self cannot be read: .*symbolic links"):
        em.Corpus(tmp_path / "self")


@pytest.mark.parametrize(
    ("setting", "content", "message"),
    [
        ("connectors", b"", "expected text"),
        ("connectors", b"\xff", "0xff in position 0"),
        ("connectors", None, "missing.*connectors"),
        ("lexicon", b"", "expected text"),
        ("lexicon", b"red\tADJ\ncar NOUN\n", "line 2: .*tag.*'car NOUN'"),
        ("lexicon", b"red\tCOLOUR\n", "line 1: .*tag"),
        ("lexicon", b"\tNOUN\n", "line 1: .*tag"),
        ("lexicon", b"\xff\tNOUN\n", "0xff in position 0"),
    ],
)
def test_files_of_phrase_detection_are_named(tmp_path, setting, content, message):
    path = tmp_path / ("missing" if content is None else "words")
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbeddingsError, match=message):
        Phrases(types="noun-noun", **{setting: str(path)})


@pytest.mark.parametrize(
    ("sources", "settings", "message"),
    [
        ([["a"]], {"tokenizer": lambda line: [1]}, "tokenizer.*strings.*1 of type int"),
        ([["a"]], {"text_column": ""}, "no column ''"),
        ([[["a"]]], {"lines": "paragraph"}, "paragraph"),
        ([[{"t": "a"}]], {"lines": "paragraph", "text_column": "t"}, "paragraph"),
        ([["a"]], {"tag_column": "t"}, "no column 't'"),
        ([[["a", "b"]]], {"labels": LABELS}, "lists of tokens"),
        ([[("a", "b")], [("a", "b", 2)]], {"pairs": CONTEXTS}, "some pairs have weights"),
    ],
)
def test_texts_are_named(sources, settings, message):
    with pytest.raises(EmbeddingsError, match=message):
        em.Corpus(*sources, **settings).encode()
