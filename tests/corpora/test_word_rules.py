"""Words with several spellings become one: normalisation, case and folding, in texts and for words that are typed."""

import pickle
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

import embeddings as em
from embeddings.corpora import Corpus
from embeddings.corpora.encoder import may_change, new_change_table
from embeddings.corpora.word_cleaning import MAX_MARKS
from embeddings.corpora.word_rules import WordForm, WordRules, recorded_settings
from embeddings.support.arrow import to_string_array

RULES = [
    {},
    {"normalize": "nfkc"},
    {"case": "fold", "fold": "accents,width,ligatures,tatweel,diacritics,long-s"},
    {"case": "keep", "normalize": "none", "tokenizer": "whitespace"},
    {"language": "tr"},
    {"language": "el", "tokenizer": "alphanumeric"},
    {"language": "lt", "case": "fold"},
    {"fold": "arabic-letters,diacritics"},
]


ALL_RULES = [WordRules(**{"tokenizer": "words", **choice}) for choice in RULES]


def words_of(text, **choice):
    with encode([text], **choice) as encoded:
        return decoded(encoded)[0]


@pytest.mark.parametrize(
    ("text", "choice", "words"),
    [
        ("café cafe\u0301 CAFE\u0301", {}, ["café"]),
        ("café cafe\u0301", {"normalize": "none"}, ["café", "cafe\u0301"]),
        ("ﬁne fine ½ ｆｉｎｅ", {"normalize": "nfkc"}, ["fine", "1⁄2"]),
        ("\ufdfa", {"normalize": "nfkc"}, ["صلى_الله_عليه_وسلم"]),
        ("İzmir izmir İZMİR I\u0307zmir", {}, ["izmir"]),
        ("İzmir izmir İZMİR I\u0307zmir", {"language": "tr"}, ["izmir"]),
        ("IŞIK ışık", {"language": "tr"}, ["ışık"]),
        ("IŞIK ışık", {"language": "az", "case": "fold"}, ["ışık"]),
        ("ΟΔΟΣ Οδος οδος ΣΑΣ", {}, ["οδος", "σας"]),
        ("ΟΔΟΣ οδός", {"language": "el"}, ["οδος"]),
        ("Ì i\u0307\u0300", {"language": "lt"}, ["ì"]),
        ("Straße STRASSE ſo", {"case": "fold"}, ["strasse", "so"]),
        ("Straße STRASSE", {}, ["straße", "strasse"]),
        ("naïve Ελλάδά ёлка ко́шка", {"fold": "accents"}, ["naive", "ελλαδα", "ёлка", "кошка"]),
        ("ﾊﾞﾅﾅ バナナ", {"fold": "width"}, ["バナナ"]),
        ("ﬁne ﷲ", {"fold": "ligatures"}, ["fine", "الله"]),
        ("كتـــاب كِتَاب שָׁלוֹם", {"fold": ["tatweel", "diacritics"]}, ["كتاب", "שלום"]),
        ("Waſſer", {"fold": "long-s"}, ["wasser"]),
        ("أحمد إحمد آحمد ٱحمد احمد ا\u0654حمد", {"fold": "arabic-letters"}, ["احمد"]),
        ("مدرسة مدرسه", {"fold": "arabic-letters"}, ["مدرسه"]),
        ("على علي", {"fold": "arabic-letters"}, ["علي"]),
        ("مؤمن مومن شيئ شيي", {"fold": "arabic-letters"}, ["مومن", "شيي"]),
        ("\u0672 \u0673 \u0675 \u0676 \u0678", {"fold": "arabic-letters"}, ["\u0627", "\u0648", "\u064a"]),
        ("أحمد إحمد", {}, ["أحمد", "إحمد"]),
        ("كِتَابَةٌ كتابه", {"fold": "tatweel,diacritics,arabic-letters"}, ["كتابه"]),
        ("\u0561\u055b\u0562 \u0561\u055c\u0562 \u0561\u055e\u0562", {}, ["\u0561\u0562"]),  # Armenian tone marks
        ("don’t don't donʼt", {}, ["don't"]),
    ],
)
def test_spellings(text, choice, words):
    assert list(dict.fromkeys(words_of(text, **choice))) == words
    form = WordForm(Corpus(["a"], **choice).text_settings)
    assert list(dict.fromkeys(form(word) for word in text.split())) == words


@settings(deadline=None, max_examples=200)
@given(
    words=st.lists(st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=8), max_size=6),
    rules=st.sampled_from(ALL_RULES),
)
def test_words_that_may_not_change_do_not_change(words, rules):
    lower = [word if rules.lower is None else rules.lower(word) for word in words]
    flags = may_change(to_string_array(lower), rules, new_change_table())
    for word, flag, new in zip(lower, flags, rules.normalize_all(lower), strict=True):
        assert flag or new == word
        assert new == rules.normalize_one(word)


@settings(deadline=None, max_examples=200)
@given(word=st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), max_size=8))
def test_normalisation_is_that_of_unicode(word):
    rules = WordRules("whitespace", "keep")
    assert rules.normalize_one(word) == unicodedata.normalize("NFC", word)


@pytest.mark.parametrize("rules", ALL_RULES, ids=range(len(RULES)))
def test_every_character_of_the_basic_plane_is_marked(rules):
    table = new_change_table()
    for point in range(0x21, 0x10000, 37):
        char = chr(point)
        for word in (char, f"a{char}", f"{char}a", f"α{char}\u0301"):
            lower = word if rules.lower is None else rules.lower(word)
            if rules.normalize_one(lower) != lower:
                assert may_change(to_string_array([lower]), rules, table)[0], ascii(word)


def test_counts_of_spellings_are_added_and_ids_agree(tmp_path):
    lines = ["Café CAFE\u0301 tea", "cafe\u0301 tea café", "x"]
    (tmp_path / "f").write_text("\n".join(lines), encoding="utf-8")
    with encode(tmp_path / "f", block_size=7) as encoded:
        assert decoded(encoded) == [["café", "café", "tea"], ["café", "tea", "café"], ["x"]]
        assert encoded.vocabulary.counts.tolist() == [4, 2, 1]
        assert np.bincount(encoded.ids).tolist() == [4, 2, 1]


def test_spellings_in_bounded_memory(tmp_path):
    text = " ".join(f"é{i} e\u0301{i}" for i in range(50)) + " é e\u0301" * 30
    (tmp_path / "f").write_text(text, encoding="utf-8")
    with encode(tmp_path / "f", max_types=20) as encoded:
        counts = dict(zip(encoded.vocabulary.words, encoded.vocabulary.counts.tolist(), strict=True))
        assert 58 <= counts["é"] <= 60
        assert np.bincount(encoded.ids, minlength=len(counts) + 1)[:-1].tolist() == encoded.vocabulary.counts.tolist()


def test_earlier_records_keep_their_rule():
    assert recorded_settings({"tokenizer": "words", "case": "lower"})["tokenizer"] == "alphanumeric"
    form = WordForm({"tokenizer": "words", "case": "lower", "encoding_errors": "strict"})
    assert [form("İ"), form("CAFE\u0301"), form("don’t")] == ["i\u0307", "cafe\u0301", "don’t"]


def test_rules_can_be_pickled():
    form = WordForm(Corpus(["a"]).text_settings)
    assert pickle.loads(pickle.dumps(form))("Don’t") == "don't"


def test_models_treat_words_as_their_text(tmp_path):
    spellings = ("مدرسة", "مدرسه")
    texts = [f"{word} one two three" for word in spellings] * 20
    model = em.train("paragraph-dbow", Corpus(texts, fold="arabic-letters"), dim=4, min_count=1, epochs=1, threads=1)
    model.save(tmp_path / "model")
    model = em.load_model(tmp_path / "model")
    assert np.array_equal(*(model.vectors[word] for word in spellings))
    assert np.array_equal(*(model.infer([f"{word} one"], seed=1) for word in spellings))


def test_up_to_thirty_marks_are_normalised():
    few, many = ("e\u0301" + "\u0301" * (number - 1) for number in (MAX_MARKS, MAX_MARKS + 1))
    assert words_of(f"{few} {many}") == [unicodedata.normalize("NFC", few), many]
