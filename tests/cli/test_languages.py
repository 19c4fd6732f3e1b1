"""Words of many languages through commands, from the text to the look-up, which is a process of its own."""

import json
import os

import pytest
from commands import expect, process, refused

SMALL = ["--dim", 4, "--epochs", 1, "--threads", 1, "--min-count", 1, "--subsample", 0]
TEXTS = {
    "default": (
        "Café cafe\u0301 and the King don’t pay 3.14 for state-of-the-art tea\nمی\u200cخواهم خانه\u200cها را\n"
        "क्\u200dष हिन्दी\nI ❤\ufe0f 👍🏽 Auf\u00adlage"
    ),
    "turkish": "İzmir izmir İZMİR IŞIK ışık",
    "folded": "ﬁne Waſſer كتـــاب ﾊﾞﾅﾅ STRASSE straße",
}
OPTIONS = {
    "default": [],
    "turkish": ["--language", "tr"],
    "folded": ["--fold", "width,ligatures,tatweel,long-s", "--case", "fold"],
}
FORMS = {
    "default": {
        "CAFÉ": "café",
        "cafe\u0301": "café",
        "King": "king",
        "don't": "don't",
        "DON’T": "don't",
        "3.14": "3.14",
        "state": "state",
        "می\u200cخواهم": "می\u200cخواهم",
        "خانه\u200cها": "خانه\u200cها",
        "क्\u200dष": "क्\u200dष",
        "❤": "❤",
        "❤\ufe0f": "❤",
        "👍🏽": "👍🏽",
        "auf\u00adlage": "auflage",
    },
    "turkish": {"İzmir": "izmir", "İZMİR": "izmir", "I\u0307zmir": "izmir", "IŞIK": "ışık"},
    "folded": {
        "ﬁne": "fine",
        "FINE": "fine",
        "Waſſer": "wasser",
        "كتـاب": "كتاب",
        "ﾊﾞﾅﾅ": "バナナ",
        "Straße": "strasse",
        "ｆｉｎｅ": "fine",
    },
}
MISSES = {
    "default": {
        "state-of-the-art": "in the text it is 4 words: state, of, the, art",
        "خانه ها": "did you mean خانه\u200cها?",
        "cafee": "did you mean café?",
    },
    "turkish": {"Izmit": "did you mean izmir?"},
    "folded": {"wasse": "did you mean wasser?"},
}
WORDS = {
    "default": [
        *["café", "and", "the", "king", "don't", "pay", "3.14", "for", "state", "of", "art", "tea", "i", "auflage"],
        *["می\u200cخواهم", "خانه\u200cها", "را", "क्\u200dष", "हिन्दी", "❤", "👍🏽"],
    ],
    "turkish": ["izmir", "ışık"],
    "folded": ["fine", "wasser", "كتاب", "バナナ", "strasse"],
}
UTF8 = {**os.environ, "PYTHONUTF8": "1"}


def command(*arguments):
    result = process(*arguments, env=UTF8, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    return result


NAMES = ["default", *(pytest.param(name, marks=pytest.mark.slow) for name in TEXTS if name != "default")]


@pytest.fixture(params=NAMES, scope="module")
def model(request, tmp_path_factory):
    """The name of a text, and the folder of a model that was trained on it."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "t.txt").write_text(f"{TEXTS[request.param]}\n" * 20, "utf-8")
    expect("train", "skipgram", folder / "t.txt", "-o", folder / "model", *OPTIONS[request.param], *SMALL)
    return request.param, folder / "model"


def test_words_are_found_as_they_are_typed(model):
    name, path = model
    expect("export", path, path.parent / "v.vec", "--force")
    lines = (path.parent / "v.vec").read_text("utf-8").splitlines()[1:]
    assert {line.split(" ")[0] for line in lines} == set(WORDS[name])
    forms = FORMS[name]
    result = command("neighbours", path, *forms, "--top", len(lines), "--json")
    neighbours = {word: set() for word in forms}
    for row in json.loads(result.stdout):
        neighbours[row["word"]].add(row["neighbour"])
    assert {word: set(WORDS[name]) - others for word, others in neighbours.items()} == {
        word: {form} for word, form in forms.items()
    }
    (path.parent / "words.txt").write_text("\n".join(forms), "utf-8")
    expect("export", path, path.parent / "some.vec", "--words", path.parent / "words.txt", "--force")
    lines = (path.parent / "some.vec").read_text("utf-8").splitlines()[1:]
    assert {line.split(" ")[0] for line in lines} == set(forms.values())


def test_other_words_are_answered_with_a_remedy(model):
    name, path = model
    for word, answer in MISSES[name].items():
        assert answer in refused("neighbours", path, word, code=1)


@pytest.mark.parametrize("model", ["default"], indirect=True)
def test_spellings_that_look_alike_are_not_reported(model):
    _, path = model
    (note,) = command("neighbours", path, "cafe\u0301", "❤\ufe0f", "CAFÉ").stderr.splitlines()
    assert "'CAFÉ'" in note
    assert "❤" not in note
    assert "cafe\u0301" not in note


def test_lines_without_spaces_are_reported(tmp_path):
    (tmp_path / "t.txt").write_text("すべての人間は、生まれながらにして自由であり、かつ平等である。\n" * 20, "utf-8")
    message = expect("vocabulary", tmp_path / "t.txt", "-o", tmp_path / "v.txt").stderr
    assert "words in Chinese or Japanese average" in message
    assert "characters, or the trainer sembei" in message
