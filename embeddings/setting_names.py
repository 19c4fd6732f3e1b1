"""What settings, commands and Python names of gensim, fastText and other tools are called here, for error messages."""

import difflib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

WORD_SETTINGS = ("tokenizer", "case", "normalize", "fold", "language", "hyphens", "apostrophes", "emoji")

THEIR_NAMES = {  # spelled in lower case without - and _
    "dim": "size vectorsize dims dimension dimensions",
    "learning_rate": "alpha lr rate startalpha",
    "min_learning_rate": "minalpha endalpha minlr minrate",
    "epochs": "iter iters epoch niter",
    "threads": "workers thread nthreads nproc",
    "negatives": "negative neg negs",
    "window": "ws windowsize",
    "subsample": "subsample t subsampling",
    "max_vocab": "maxfinalvocab maxvocab",
    "buckets": "bucket",
    "top": "topn k",
    "case": "lower lowercase",
    "text_column": "column",
    "init": "pretrainedvectors pretrained",
    "vocabulary": "readvocab vocab",
    "out": "output savemodel savefile",
    "quiet": "verbose silent",
    "max_types": "maxvocabsize",
    "min_count": "mincount",
    "min_documents": "mindf minimumdocuments nobelow",
    "vocabulary_rule": "trimrule",
    "min_n": "minn",
    "max_n": "maxn",
    "normalize": "prenormalize",
    "noise_exponent": "nsexponent",
    "shrink_window": "shrinkwindows",
    "combine": "cbowmean dmmean",
    "restrict": "restrictvocab clipend",
    "index": "indexer",
    "words": "keys",
    "words_a": "ws1",
    "words_b": "ws2",
    "a": "wa",
    "b": "wb",
    "document_b": "document2",
    "context_words": "contextwordslist",
    "seed": "randomseed",
    "min_label_count": "mincountlabel",
    "label_prefix": "label",
    "joiner": "delimiter",
}
TRAIN_ARGUMENTS = (
    "threads", "seed", "progress", "init", "continued", "checkpoints", "resume", "callbacks", "replicas",
    "cluster", "vocabulary_rule", "run_options",
)  # fmt: skip
CORPUS_ARGUMENTS = (
    *WORD_SETTINGS, "encoding", "encoding_errors", "text_column", "tag_column", "rows", "lines",
    "max_types", "vocabulary", "phrases", "joiner", "phrase_mode", "labels", "pairs", "vectors",
)  # fmt: skip
TRAINER_SETTINGS = (  # that several trainers have
    "dim", "window", "negatives", "epochs", "learning_rate", "min_count", "max_vocab", "min_documents", "subsample",
    "objective", "min_n", "max_n", "buckets",
)  # fmt: skip
PLACES = {  # of arguments, for those that are passed to another function
    "the trainer": TRAINER_SETTINGS, "em.Corpus": CORPUS_ARGUMENTS, "train()": TRAIN_ARGUMENTS,
    "em.InitFrom": ("freeze", "duplicates"),
}  # fmt: skip
OF_TRAINING = {"dim", "tokenizer", "threads"}  # of which a trainer, a Corpus and train() have one each
OUR_NAMES = {theirs: ours for ours, names in THEIR_NAMES.items() for theirs in names.split()}
ADVICE = {  # names without a counterpart
    **dict.fromkeys(("sg", "cbow", "skipgram"), "choose the model by its name: skipgram or cbow"),
    **dict.fromkeys(("dm", "dmconcat", "dbowwords"), "choose the model by its name: paragraph-dbow or paragraph-dm"),
    **dict.fromkeys(("hs", "loss"), "choose the objective, such as hierarchical-softmax"),
    "lrupdaterate": "leave it out: the learning rate falls continuously",
    "saveoutput": "leave it out: a model folder has the output table",
    "wordngrams": "use the trainer classifier",
    **dict.fromkeys(
        ("autotunevalidation", "autotuneduration", "autotunemodelsize", "autotunemetric", "autotunepredictions"),
        "use the command tune classifier with --labels, --seconds, --size, --metric or -k",
    ),
    **dict.fromkeys(("input", "train", "sentences", "documents", "corpusfile"), "pass the corpus as an argument"),
    "compare": "use the command compare",
    "allowpickle": "first convert the file by the command export with --allow-pickle",
    "savevocab": "use the command vocabulary",
    "computeloss": 'leave it out: losses are in model.record["loss_by_epoch"]',
    "binary": "choose the format by the extension of the output, such as .bin or .txt",
}
THEIR_TRAINERS = {
    "word2vec": "skipgram or cbow",
    "doc2vec": "paragraph-dm or paragraph-dbow",
    "supervised": "classifier",
}
THEIR_COMMANDS = {  # of fastText and word2vec
    "supervised": "train classifier",
    "autotune": "tune classifier",
    "test": "evaluate --labels",
    "test-label": "evaluate --labels --sections",
    "predict-prob": "predict",
    "skipgram": "train skipgram or train fasttext",
    "cbow": "train cbow",
    "nn": "neighbours",
    "analogies": "analogy",
    "print-word-vectors": "export, or em.lookup in Python",
    "print-sentence-vectors": "embed",
    "dump": "info",
    "word2phrase": "phrases",
    "distance": "neighbours",
    "word-analogy": "analogy",
    "compute-accuracy": "evaluate --analogy",
}
EXPRESSIONS = {  # what to write in Python, and the names of functions, classes and attributes that it replaces
    "model.vectors": "wv",
    "model.documents": "dv docvecs",
    "model.infer([words])[0]": "infer_vector",
    "model.settings": "epochs window min_count alpha negative hs sg cbow_mean dm seed",
    "model.tables": "get_input_matrix get_output_matrix syn1 syn1neg",
    'model.record["loss_by_epoch"]': "get_latest_training_loss",
    "model.vocabulary.tokens": "corpus_total_words",
    "classifier.labels or model.labels.words": "get_labels",
    "model.classifier.quantize()": "quantize",
    'model.export(path, "fasttext") or classifier.export(path)': "save_model save_facebook_model",
    "trainer.train(lines) or em.continue_training(model, lines)": "build_vocab train fit update_vocab",
    "em.load(path) or em.load_model(path)": "load",
    "em.load_model(path)": "load_facebook_model load_fasttext_format",
    "em.load(path)": "load_word2vec_format load_facebook_vectors KeyedVectors FastTextKeyedVectors",
    "em.train(name, lines, init=em.InitFrom(path))": "intersect_word2vec_format",
    "vectors.words": "index_to_key index2word index2entity get_words words",
    "vectors.index(word)": "key_to_index get_index vocab get_word_id",
    "vectors.matrix": "vectors syn0",
    "vectors.unit_rows": "get_normed_vectors vectors_norm syn0norm fill_norms init_sims",
    "vectors.dim": "vector_size get_dimension get_sentence_embedding_dimension",
    "vectors[word]": "get_vector word_vec get_word_vector get_subwords get_subword_id get_input_vector",
    "vectors.counts[vectors.index(word)]": "get_vecattr",
    "word in vectors": "has_index_for",
    "vectors.most_similar(word)": "similar_by_word similar_by_key get_nearest_neighbors",
    "vectors.most_similar(vectors[word])": "similar_by_vector",
    "vectors.analogy(a, b, c)": "get_analogies",
    'vectors.analogy(a, b, c, method="3cosmul")': "most_similar_cosmul",
    "vectors.distances(word, [other])[0]": "distance",
    "vectors.closer_than(word, other)": "words_closer_than",
    "vectors.add_vectors(words, matrix)": "add_vector",
    "em.evaluate(vectors, similarity=path)": "evaluate_word_pairs",
    "em.evaluate(vectors, analogy=path)": "evaluate_word_analogies accuracy",
    'vectors.save("words.bin") or vectors.save("words.txt")': "save_word2vec_format",
    "em.embed(model, texts)": "encode",
    "em.embed(model, [text])[0] or classifier.embed([text])[0]": "get_sentence_vector",
    "em.embed(path, texts)": "SentenceTransformer StaticModel",
    "em.sklearn.MeanVectorizer(vectors=vectors).fit_transform(texts)": "transform fit_transform",
    "em.evaluate(classifier, labels=path)": "test test_label evaluate_classifier",
    "em.SkipGram(dim=100).train(lines) or em.CBOW(dim=100).train(lines)": "Word2Vec",
    "em.ParagraphDM(dim=100).train(lines) or em.ParagraphDBOW(dim=100).train(lines)": "Doc2Vec",
    "em.FastText(dim=100).train(path)": "train_unsupervised",
    'em.train("classifier", path)': "train_supervised",
    'em.Corpus(path, tokenizer="whitespace", case="keep")': "LineSentence PathLineSentences Text8Corpus",
    'em.Corpus(rows, text_column="text", tag_column="tag")': "TaggedDocument TaggedLineDocument",
    "em.Corpus(lines)": "simple_preprocess tokenize",
    "em.Corpus(lines, phrases=em.Phrases())": "Phraser FrozenPhrases",
    "em.align(vectors, onto=others, dictionary=pairs)": "TranslationMatrix BackMappingTranslationMatrix",
    'em.build_index(vectors, "lsh")': "AnnoyIndexer NmslibIndexer",
    "em.Callback": "CallbackAny2Vec",
}
OUR_EXPRESSIONS = {theirs: ours for ours, names in EXPRESSIONS.items() for theirs in names.split()}


class AdvisesOnNames:
    """A base class whose missing attributes raise an AttributeError that says what to write here."""

    if not TYPE_CHECKING:  # type checkers know all attributes

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{expression_advice(name)}")


def expression_advice(name: str) -> str:
    """The end of the message for an unknown name in Python: what to write; empty if nothing is known.

    >>> expression_advice("KeyedVectors")
    ': use em.load(path)'
    """
    return f": use {OUR_EXPRESSIONS[name]}" if name in OUR_EXPRESSIONS else ""


def normalize_name(name: str) -> str:
    """A setting's name in lower case without dashes and underscores."""
    return name.replace("-", "").replace("_", "").lower()


def our_name(name: str, known: Iterable[str]) -> str | None:
    """The setting among `known` that `name` means, or whose spelling is closest; None if there is none."""
    spellings = {normalize_name(setting): setting for setting in known}
    key = normalize_name(name)
    our_spelling = normalize_name(OUR_NAMES.get(key, name))
    if our_spelling in spellings:
        return spellings[our_spelling]
    close = difflib.get_close_matches(key, spellings, n=1)
    return spellings[close[0]] if close and key not in ADVICE and key not in OUR_NAMES else None


def advice(name: str, known: Collection[str]) -> str | None:
    """The name of an unknown setting or argument here, where to pass it, or a remedy; None if nothing is known.

    Arguments:
        known: the names that are allowed in its place.
    """
    if setting := our_name(name, known):
        return f"use {setting}"
    key = normalize_name(name)
    places = PLACES if OF_TRAINING & {*known} else {}
    elsewhere = {normalize_name(each): f"pass {each} to {place}" for place, names in places.items() for each in names}
    # Other functions have many names, and most words are a little like one of them: one letter may differ.
    close = difflib.get_close_matches(normalize_name(OUR_NAMES.get(key, key)), elsewhere, 1, 0.9)
    return elsewhere[close[0]] if close else ADVICE.get(key)


class InteropMixin(AdvisesOnNames):
    """Pickles without cached attributes, and is shared rather than copied when scikit-learn clones an estimator.

    `CACHED_ATTRIBUTES` are recomputed on first use after unpickling.
    """

    CACHED_ATTRIBUTES: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self.CACHED_ATTRIBUTES}

    def __sklearn_clone__(self) -> Self:
        return self  # estimators do not change vectors or models, and a copy can be large
