"""Random vectors with words that each format can store, some of them odd."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import embeddings as em
from embeddings.vectors import file_format

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
FORBIDDEN = {  # characters of words, by format
    "arrow": "",
    "fasttext": "\0",
    "gensim": "",
    "glove": " \t\n\v\f\r",
    "model2vec": "",
    "npy": LINE_ENDS,
    "parquet": "",
    "safetensors": "\n",
    "sentence-transformers": "",
    "spacy": "",
    "word2vec-binary": " \n",
    "word2vec-text": " \t\n\v\f\r",
}
OF_ANY_WORDS = ("arrow", "gensim", "parquet")
ODD_WORDS = [*"\ufeff\u00a0\u3000\u2028\x85\x1c\0\"#'\\🙂é", '"a', "nan", "1", "-0.5", "日本語", "[UNK]"]
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def some_vectors(draw, form):
    """Words that the format can store, some odd, with any finite numbers, and counts if it stores them."""
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters=FORBIDDEN[form] + "\r" * (form == "npy"))
    odd = [word for word in ODD_WORDS if not set(word) & set(FORBIDDEN[form])]
    words = st.text(alphabet, min_size=form not in OF_ANY_WORDS, max_size=6) | st.sampled_from(odd)
    names = draw(st.lists(words, unique=True, min_size=form == "glove", max_size=8))
    shape = (len(names), draw(st.integers(1 + (form == "glove"), 7)))
    counts = draw(arrays.arrays(np.int64, shape[0], elements=st.integers(0, 2**55)))
    stores_counts = file_format.load_format(form).stores_counts
    is_counted = stores_counts and (form == "fasttext" or draw(st.booleans()))
    return em.Vectors(
        names, draw(arrays.arrays(np.float32, shape, elements=NUMBERS)), counts=counts if is_counted else None
    )
