"""What the settings of gensim, word2vec, fastText, GloVe and earlier versions are called here, for error messages."""

import difflib
from collections.abc import Iterable

OUR_NAMES = {  # spelled in lower case without - and _
    **dict.fromkeys(("size", "vectorsize", "dims", "dimension", "dimensions"), "dim"),
    **dict.fromkeys(("alpha", "lr", "rate", "startalpha"), "learning_rate"),
    **dict.fromkeys(("minalpha", "endalpha", "minlr", "minrate"), "min_learning_rate"),
    **dict.fromkeys(("iter", "iters", "epoch", "niter"), "epochs"),
    **dict.fromkeys(("workers", "thread", "nthreads", "nproc"), "threads"),
    **dict.fromkeys(("negative", "neg", "negs"), "negatives"),
    **dict.fromkeys(("ws", "windowsize"), "window"),
    **dict.fromkeys(("subsample", "t", "subsampling"), "subsample"),
    **dict.fromkeys(("maxfinalvocab", "maxvocab"), "max_vocab"),
    **dict.fromkeys(("bucket",), "buckets"),
    **dict.fromkeys(("topn", "k"), "top"),
    **dict.fromkeys(("pretrainedvectors", "pretrained"), "init"),
    **dict.fromkeys(("readvocab", "vocab"), "vocabulary"),
    **dict.fromkeys(("output", "savemodel", "savefile"), "out"),
    **dict.fromkeys(("verbose", "silent"), "quiet"),
    "maxvocabsize": "max_types",
    "mincount": "min_count",
    "minn": "min_n",
    "maxn": "max_n",
    "nsexponent": "noise_exponent",
    "shrinkwindows": "shrink_window",
    "cbowmean": "combine",
    "dmmean": "combine",
    "restrictvocab": "restrict",
    "randomseed": "seed",
    "fewest": "min_phrases",
    "fitrate": "fit_learning_rate",
    "beside": "concat_with",
    "facts": "stats",
    "trained": "use_trained_vectors",
    "phrasewords": "phrase_mode",
    "word": "show_neighbours_of",
}
ADVICE = {  # names without a counterpart
    **dict.fromkeys(("sg", "cbow", "skipgram"), "choose the model by its name: skipgram or cbow"),
    **dict.fromkeys(("dm", "dmconcat", "dbowwords"), "choose the model by its name: paragraph-dbow or paragraph-dm"),
    **dict.fromkeys(("hs", "loss"), "models learn by negative sampling; set negatives"),
    **dict.fromkeys(("input", "train", "sentences", "documents", "corpusfile"), "pass the corpus as an argument"),
    **dict.fromkeys(("neighbours",), "use the command benchmark-indexes"),
    **dict.fromkeys(("compare",), "use the command compare"),
    **dict.fromkeys(("savevocab",), "use the command vocabulary"),
    **dict.fromkeys(("binary",), "choose the format by the ending of the output, such as .bin or .txt"),
}


def normalized(name: str) -> str:
    """A setting's name in lower case without dashes and underscores."""
    return name.replace("-", "").replace("_", "").lower()


def our_name(name: str, known: Iterable[str]) -> str | None:
    """The one of the `known` settings that `name` means, or that is spelled most like it; None if there is none."""
    spellings = {normalized(setting): setting for setting in known}
    key = normalized(name)
    translated = normalized(OUR_NAMES.get(key, name))
    if translated in spellings:
        return spellings[translated]
    close = difflib.get_close_matches(key, spellings, n=1)
    return spellings[close[0]] if close and key not in ADVICE and key not in OUR_NAMES else None


def hint(name: str, known: Iterable[str]) -> str | None:
    """What to do instead of setting `name`: the setting's name here, or advice; None if nothing is known."""
    setting = our_name(name, known)
    if setting is not None:
        return f"use {setting}"
    key = normalized(name)
    if OUR_NAMES.get(key) == "threads":
        return "threads is an argument of train(), not of the model"
    return ADVICE.get(key)
