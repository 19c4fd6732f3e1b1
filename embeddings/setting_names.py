"""What the settings of gensim, word2vec, fastText, GloVe and earlier versions are called here, for error messages."""

import difflib
from collections.abc import Collection, Iterable

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
    "noise_exponent": "nsexponent",
    "shrink_window": "shrinkwindows",
    "combine": "cbowmean dmmean",
    "restrict": "restrictvocab",
    "seed": "randomseed",
    "min_phrases": "fewest",
    "fit_learning_rate": "fitrate",
    "concat_with": "beside",
    "stats": "facts",
    "use_trained_vectors": "trained",
    "phrase_mode": "phrasewords",
    "show_neighbours_of": "word",
    "min_label_count": "mincountlabel",
    "label_prefix": "label",
    "autotune_validation": "autotunevalidationfile",
    "autotune_seconds": "autotuneduration",
    "autotune_size": "autotunemodelsize",
}
TRAIN_ARGUMENTS = (
    "threads", "seed", "progress", "report", "init", "continued", "checkpoints", "resume", "callbacks", "replicas",
    "cluster", "vocabulary_rule", "rate_advice", "run_options",
)  # fmt: skip
CORPUS_ARGUMENTS = (
    *WORD_SETTINGS, "encoding", "encoding_errors", "text_column", "tag_column", "rows", "deduplicate", "max_types",
    "vocabulary", "phrases", "joiner", "phrase_mode", "labels", "pairs",
)  # fmt: skip
TRAINER_SETTINGS = (  # that several trainers have
    "dim", "window", "negatives", "epochs", "learning_rate", "min_count", "max_vocab", "min_documents", "subsample",
    "objective", "min_n", "max_n", "buckets",
)  # fmt: skip
TO_TRAINER = "pass it to the trainer: em.{trainer}({name}=...)"
PLACES = {  # of arguments, for those that are passed to another function
    **dict.fromkeys(TRAINER_SETTINGS, TO_TRAINER),
    **dict.fromkeys(CORPUS_ARGUMENTS, "pass it to the corpus: em.Corpus(texts, {name}=...)"),
    **dict.fromkeys(TRAIN_ARGUMENTS, "pass it to train(): em.{trainer}().train(corpus, {name}=...)"),
}
OUR_NAMES = {theirs: ours for ours, names in THEIR_NAMES.items() for theirs in names.split()}
ADVICE = {  # names without a counterpart
    **dict.fromkeys(("sg", "cbow", "skipgram"), "choose the model by its name: skipgram or cbow"),
    **dict.fromkeys(("dm", "dmconcat", "dbowwords"), "choose the model by its name: paragraph-dbow or paragraph-dm"),
    **dict.fromkeys(("hs", "loss"), "choose the objective, such as hierarchical-softmax"),
    **dict.fromkeys(("lrupdaterate",), "leave it out: the learning rate falls continuously"),
    **dict.fromkeys(("saveoutput",), "leave it out: a model folder has the output table"),
    **dict.fromkeys(("wordngrams", "autotunevalidation"), "use the trainer classifier"),
    **dict.fromkeys(("input", "train", "sentences", "documents", "corpusfile"), "pass the corpus as an argument"),
    **dict.fromkeys(("neighbours",), "use the command benchmark-indexes"),
    **dict.fromkeys(("compare",), "use the command compare"),
    **dict.fromkeys(("savevocab",), "use the command vocabulary"),
    **dict.fromkeys(("binary",), "choose the format by the extension of the output, such as .bin or .txt"),
}
THEIR_COMMANDS = {  # of fastText and word2vec
    "supervised": "train classifier",
    "autotune": "train classifier --autotune-validation",
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
THEIR_ATTRIBUTES = {  # of gensim's models and vectors
    "wv": ".vectors",
    "dv": ".documents",
    "index_to_key": ".words",
    "key_to_index": ".index(word)",
    "vector_size": ".dim",
    "get_vector": "vectors[word]",
    "get_vecattr": ".counts",
    "similar_by_word": ".most_similar",
    "similar_by_vector": ".most_similar",
    "most_similar_cosmul": '.analogy(..., method="3cosmul")',
    "evaluate_word_pairs": "embeddings.evaluate(vectors, similarity=...)",
    "evaluate_word_analogies": "embeddings.evaluate(vectors, analogy=...)",
    "save_word2vec_format": '.save(path, "word2vec-text")',
    "infer_vector": ".infer([text])",
}
THEIR_CLASSES = {  # of gensim
    "Word2Vec": "embeddings.SkipGram or embeddings.CBOW",
    "Doc2Vec": "embeddings.ParagraphDM or embeddings.ParagraphDBOW",
    "KeyedVectors": "embeddings.Vectors, or embeddings.load for files",
    "LineSentence": 'embeddings.Corpus(path, tokenizer="whitespace", case="keep")',
    "TaggedDocument": "embeddings.Corpus(rows, text_column=..., tag_column=...)",
}


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


def hint(name: str, known: Iterable[str]) -> str | None:
    """What to do instead of setting `name`: the setting's name here, or advice; None if nothing is known."""
    setting = our_name(name, known)
    if setting is not None:
        return f"use {setting}"
    return ADVICE.get(normalize_name(name))


def advice(
    name: str, known: Collection[str], trainer: str = "FastText", settings: Collection[str] = TRAINER_SETTINGS
) -> str | None:
    """What to do instead of passing an argument to a Python function; it may belong to another function.

    Arguments:
        known: the arguments of the function.
        trainer, settings: the class of the trainer in the advice, and its settings.
    """
    ours = OUR_NAMES.get(normalize_name(name), name)
    if ours in known:
        return f"use {ours}"
    others = {each: place for each, place in PLACES.items() if place != TO_TRAINER}
    others |= dict.fromkeys(settings, TO_TRAINER)
    for each in known:
        others.pop(each, None)
    if ours not in others and (remedy := hint(name, known)):
        return remedy
    place = ours if ours in others else our_name(name, others)
    return None if place is None else others[place].format(name=place, trainer=trainer)
