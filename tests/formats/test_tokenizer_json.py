"""The tokenizer.json of exported folders: texts become the same words as in `embed`, by all rules, in all scripts."""

import json
from itertools import product
from typing import get_args

import numpy as np
import pytest
from optional_libraries import needs

import embeddings as em
from embeddings.corpora.word_rules import FOLDINGS, Language, WordForm
from embeddings.formats import tokenizer_json

pytestmark = needs("tokenizers")

TEXTS = [
    "\u0130stanbul'da I\u015eIK ve \u0131l\u0131k, D\u0130YARBAKIR",
    "ΟΔΟΣ ΣΑΣ οδός, ΆΝΘΡΩΠΟΣ και Ά. ΐ ΰ ᾳ ᾼ ᾲ Ὦ",
    "東京タワーへ行く。コーヒーとカメラ 漢字かな交じり文 〇〇年 々 ー ーa",
    "iPhone手机和iPad平板，很好！",
    "ภาษาไทย123 กับ ๑๒๓",
    "👍🏽 👩🏾\u200d💻 ❤\ufe0f 🇫🇷🇩🇪 🇫 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 a👍b 1👍 x\u200d👍",
    'וארה"ב צה"ל ב-1948 ג\'ירפה ש\'" עִבְרִית',
    "café naïve cafe\u0301 re\u0301sume\u0301 \u212bngstrom \u1e9e ĳ Ǆ ŉ ǰ \u0345",
    "don\u2019t l\u2019homme aujourd'hui rock-n-roll e-mail well\u2010known ʻokina hawaiʻi \u02bcn",
    "x² ½ cup ① Ⅷ \ufb01ne ＡＢＣ１２３ ｶﾀｶﾅ \ufdfa ㎞ ™ 50€ #tag a+b C++",
    "हिन्दी क\u093cलम \u095c क्\u200dष বাংলা \u09dfা",
    "العَرَبِيَّة كتـــاب أحمد \ufefb مدرسة على ـــ می\u200cخواهم کتاب\u200cها",
    "한국어 \u1112\u1161\u11ab ſtraße STRASSE groß Maſſe",
    "U.S.A. e.g. 3.14 1,000.5 12:30 a.'b one,two x_y _em_ snake_case \u201cquotes\u201d \u2014 \u2026",
    "soft\u00adhyphen zero\u200bwidth \u2060joined \u0301x a\u0301.b\u0301 ws\u2019\u0301a i\u0307\u0323 \u0131\u0307",
    "Հայերեն՞ բա՛րև J\u0307 jį\u0307\u0301 i\u0307\u0301 LIETUVIŲ მᲥᲐ Ꭰꭰ И\u0306 Ё",
    "မြန်မာ ភាសាខ្មែរ ລາວ ދިވެހި ትግርኛ ᓄᓇᕗᑦ 𐐀𐐨 𝐀𝐛",
    "tab\there\nand lines\r\nhere ...",
    "",
]
TOKENIZERS = ("words", "alphanumeric", "whitespace", "ascii-whitespace", "characters", "codepoints")
DEFAULTS = {"case": "lower", "normalize": "nfc", "fold": "", "language": None}
RULES = [
    *({"tokenizer": t, "case": c, "normalize": n}
      for t, c, n in product(TOKENIZERS, ("lower", "fold", "keep"), ("nfc", "nfkc", "none"))),
    *({"tokenizer": "words", "fold": fold, "normalize": form} for fold, form in product(FOLDINGS, ("nfc", "nfkc"))),
    *({"tokenizer": "words", "fold": ",".join(FOLDINGS), "case": case} for case in ("lower", "fold", "keep")),
    *({"tokenizer": tokenizer, "language": one} for tokenizer, one in product(TOKENIZERS[:3], get_args(Language))),
    {"tokenizer": "words", "language": "el", "fold": "accents"},
    *({"tokenizer": "words", "hyphens": h, "apostrophes": a, "emoji": e}
      for h, a, e in product(("split", "join"), ("split", "join"), ("keep", "drop"))),
]  # fmt: skip


def exported(vectors, folder):
    """The tokenizer of an exported folder."""
    vectors.save(folder, "model2vec")
    return tokenizer_json.import_tokenizers().Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: " ".join(filter(None, rules.values())))
def test_texts_have_the_same_vectors_as_in_embed(tmp_path, caplog, rules):
    """A model that knows the words of three of four texts; case "keep" looks unknown words up in lower case, too."""
    known = TEXTS if rules.get("case") == "keep" else [text for row, text in enumerate(TEXTS) if row % 4]
    with em.Corpus(known, **rules).encode() as encoded:
        words = list(encoded.vocabulary.words)
    matrix = np.random.default_rng(1).standard_normal((len(words), 8)).astype(np.float32)
    vectors = em.Vectors(words, matrix, word_form=WordForm(DEFAULTS | rules))
    tokenizer = exported(vectors, tmp_path / "m")
    assert not caplog.records
    padded = np.concatenate([matrix, np.zeros((1, 8), np.float32)])
    ids = [encoding.ids for encoding in tokenizer.encode_batch(TEXTS, add_special_tokens=False)]
    sums = [padded[text].sum(axis=0) for text in ids]
    np.testing.assert_allclose(em.embed(vectors, TEXTS, pool="sum"), sums, atol=1e-4)


@pytest.mark.parametrize(
    ("rules", "text", "word"),
    [
        ({"tokenizer": "words", "emoji": "as-words"}, "a ❤", "heavy_black_heart"),
        ({"tokenizer": str.split}, "a b", "a"),
    ],
)
def test_a_warning_names_a_word_of_rules_that_cannot_be_written(tmp_path, caplog, rules, text, word):
    with em.Corpus([text], **rules).encode() as encoded:
        words = list(encoded.vocabulary.words)
    exported(em.Vectors(words, np.eye(len(words)), word_form=WordForm(DEFAULTS | rules)), tmp_path / "m")
    assert repr(word) in caplog.text


def test_phrases_are_found_where_the_text_joins_their_words(tmp_path, caplog):
    words = ["new_york", "new", "york", "東京_タワー"]
    vectors = em.Vectors(words, np.eye(4), word_form=WordForm(DEFAULTS | {"tokenizer": "words"}, joiner="_"))
    tokenizer = exported(vectors, tmp_path / "m")
    assert "'new_york'" in caplog.text
    assert tokenizer.encode("(New_York) _new york_ 東京_タワー").tokens == ["new_york", "new", "york", "東京_タワー"]


@pytest.mark.parametrize(
    ("words", "text", "tokens"),
    [
        (["the", "été", "日本", "नमस्ते", "new_york", "x2"], "The E\u0301te\u0301日本 नमस्ते New_York x2", "all"),
        (["the", "The"], "The the", ["The", "the"]),
        (["cafe\u0301"], "cafe\u0301", ["cafe\u0301"]),
        (["don\u2019t"], "don\u2019t", ["don\u2019t"]),
        (["don't"], "don\u2019t", ["don't"]),
        (["o'", "her"], "her, o'!", ["her", "[UNK]"]),
    ],
)
def test_vectors_of_unknown_origin_are_not_changed(tmp_path, words, text, tokens):
    """Texts are split by the tokenizer `words`, and rules apply that change no word."""
    tokenizer = exported(em.Vectors(words, np.eye(len(words))), tmp_path / "m")
    assert tokenizer.encode(text).tokens == (words if tokens == "all" else tokens)


def test_default_rules_take_few_steps_each_of_which_reads_the_whole_text(tmp_path):
    rules = DEFAULTS | {"tokenizer": "words"}
    tokenizer = exported(em.Vectors(["don't", "i", "\u03c2"], np.eye(3), word_form=WordForm(rules)), tmp_path / "m")
    assert len(json.loads(tokenizer.to_str())["normalizer"]["normalizers"]) <= 10


def test_the_unknown_token_is_not_a_word(tmp_path):
    assert tokenizer_json.write_tokenizer(["[UNK]", "a"], tmp_path / "t") == "[UNK1]"
    assert tokenizer_json.write_tokenizer([], tmp_path / "t") == "[UNK]"
