"""Arguments of training from Python: one set for all ways in, typed, and refused with advice in a wrong place."""

import functools
import inspect
import re
from dataclasses import fields

import pytest

import embeddings as em
from embeddings.errors import SettingError
from embeddings.setting_names import CORPUS_ARGUMENTS, PLACES, TRAIN_ARGUMENTS, TRAINER_SETTINGS

TEXTS = ["the cat sat", "the dog sat"] * 9
SMALL = {"dim": 2, "min_count": 1, "subsample": 0}


def keywords(function):
    """The keyword arguments of a function with their annotations and defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name: (one.annotation, one.default) for one in parameters if one.kind is one.KEYWORD_ONLY}


def test_all_ways_in_take_the_same_documented_arguments():
    method, function, continued = keywords(em.SkipGram.train), keywords(em.train), keywords(em.continue_training)
    assert method == function
    assert tuple(method) == TRAIN_ARGUMENTS
    assert continued == {name: one for name, one in method.items() if name in continued}
    assert set(method) - set(continued) == {"init", "continued", "vocabulary_rule"}
    hidden = {"read"}  # of the command line
    options = {field.name: field.default for field in fields(em.training.RunOptions) if field.name not in hidden}
    assert options == {name: method[name][1] for name in options}
    for one in (em.SkipGram.train, em.train):
        assert all(name in inspect.getdoc(one) for name in method)


def test_tables_of_places_are_complete():
    assert tuple(keywords(em.Corpus)) == CORPUS_ARGUMENTS
    assert set(TRAINER_SETTINGS) <= {field.name for field in fields(em.FastText)}


def test_arguments_reach_the_run(tmp_path):
    by_name = functools.partial(em.train, "skipgram", **SMALL)
    for number, train in enumerate((em.SkipGram(**SMALL).train, by_name)):
        log = em.training.RunLog(tmp_path / f"{number}.jsonl")
        one = train(TEXTS, callbacks=[log], vocabulary_rule=lambda word, count: word != "cat", threads=1)
        assert log.path.is_file()
        assert "cat" not in one.vectors.words
        options = em.training.RunOptions(vocabulary_rule=lambda word, count: word != "cat")
        other = train(TEXTS, run_options=options, threads=1)
        assert one.vectors.matrix.tobytes() == other.vectors.matrix.tobytes()


def test_an_option_is_passed_once():
    options = em.training.RunOptions(callbacks=[em.Callback()])
    with pytest.raises(SettingError, match=r"^callbacks is passed twice"):
        em.SkipGram().train(TEXTS, callbacks=[em.Callback()], run_options=options)
    model = em.SkipGram(**SMALL).train(TEXTS, run_options=options, threads=1, replicas=em.training.Replicas(2))
    assert model.record["replicas"]["count"] == 2
    with pytest.raises(SettingError, match="continued is passed twice"):
        em.continue_training(model, TEXTS, run_options=em.training.RunOptions(continued=model))


MISPLACED = {  # for each place, arguments with the names that the advice must give
    "em.SkipGram": "threads workers=threads callbacks callback=callbacks seed init tokenizer case",
    "em.Corpus": "threads workers=threads callbacks callback=callbacks seed dim vector_size=dim epochs",
    "em.CBOW().train": "tokenizer case dim vector_size=dim windw=window epochs",
    "em.train": "tokenizer case callback=callbacks workers=threads",
}
CALLS = {
    "em.SkipGram": em.SkipGram, "em.Corpus": lambda **argument: em.Corpus(TEXTS, **argument),
    "em.CBOW().train": lambda **argument: em.CBOW().train(TEXTS, **argument),
    "em.train": lambda **argument: em.train("glove", TEXTS, **argument),
}  # fmt: skip


@pytest.mark.parametrize(
    ("place", "argument"), [(place, one) for place in MISPLACED for one in MISPLACED[place].split()]
)
def test_the_advice_for_a_misplaced_argument_names_its_place(place, argument):
    theirs, _, ours = argument.partition("=")
    ours = ours or theirs
    function = next(function for function, names in PLACES.items() if ours in names)
    with pytest.raises(SettingError, match=rf"{theirs}.*pass {ours} to {re.escape(function)}$"):
        CALLS[place](**{theirs: 1})


def test_options_of_pretrained_vectors_are_passed_with_them():
    vectors, model = em.Vectors(["the"], [[1, 2]]), em.SkipGram(**SMALL)
    with pytest.raises(SettingError, match=r"pass freeze to em\.InitFrom$"):
        model.train(TEXTS, freeze=True)
    assert model.train(TEXTS, init=em.InitFrom(vectors, freeze=True)).vectors["the"].tolist() == [1, 2]
    with pytest.raises(SettingError, match=r"InitFrom, got 'folder'"):
        model.train(TEXTS, init="folder")


def test_unknown_arguments_without_a_place_are_refused_with_the_known_ones():
    with pytest.raises(SettingError, match=r"^train\(\) has no argument 'zzz'; its arguments: corpus, threads"):
        em.SkipGram().train(TEXTS, zzz=1)
    with pytest.raises(SettingError, match=r"^Corpus has no argument 'zzz'; its arguments: tokenizer"):
        em.Corpus(TEXTS, zzz=1)
    with pytest.raises(SettingError, match="use min_count"):
        em.train("skipgram", TEXTS, mincnt=1)
