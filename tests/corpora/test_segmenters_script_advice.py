"""Advice for text without spaces."""

import pytest
from naive_corpora import encode

from embeddings.corpora import Corpus
from embeddings.corpora.corpus_cache import warn_once
from embeddings.corpora.segmenters import script_advice

THAI = "ภาษาไทยเป็นภาษาราชการของประเทศไทย"
CHINESE = "道可道非常道名可名非常名"
JAPANESE = "吾輩は猫である名前はまだ無い"


def advice(text, **settings):
    with encode(text, **settings) as encoded:
        return script_advice(encoded.vocabulary, encoded.meta["settings"]["tokenizer"])


@pytest.mark.parametrize(
    ("text", "script"), [(THAI, "Thai"), (CHINESE, "Chinese or Japanese"), (JAPANESE, "Chinese or Japanese")]
)
@pytest.mark.parametrize("tokenizer", ["words", "whitespace"])
def test_lines_as_words(text, script, tokenizer):
    message = advice([text] * 5 + ["some English words"], tokenizer=tokenizer)
    assert f"words in {script} average" in message
    assert ("pythainlp" if script == "Thai" else "jieba") in message
    assert advice([text], tokenizer="characters") is None


@pytest.mark.parametrize(
    "text",
    [
        "plain English text",
        "안녕하세요 세계",
        "ภาษา ไทย เป็น ภาษา",
        "我 来到 北京 清华大学",
        f"a long text in English with {CHINESE[:4]} " * 9,
    ],
)
def test_words_of_usual_length(text):
    assert advice([text], tokenizer="whitespace") is None


def test_it_is_logged_before_training(tmp_path, caplog):
    warn_once.cache_clear()
    Corpus([THAI] * 20).encode()
    assert "words in Thai average" in caplog.text
    caplog.clear()
    Corpus([THAI] * 20).encode()
    Corpus([THAI] * 20, tokenizer="characters").encode()
    assert "average" not in caplog.text
