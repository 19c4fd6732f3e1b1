"""An encoded corpus with phrases as tokens: joined, counted anew, written like any other."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, META, PHRASES, SENTENCES, TAGS, VOCABULARY, EncodedCorpus
from embeddings.corpora.memory_mapped import Column, load_column, writing
from embeddings.corpora.phrases import join_kernel
from embeddings.corpora.phrases.phrase_list import PhraseList, check_joiner
from embeddings.corpora.phrases.phrase_table import save_table, table_of
from embeddings.corpora.phrases.phrase_trie import Grammar, grammar
from embeddings.corpora.phrases.word_classes import Tokens
from embeddings.corpora.remapping import second
from embeddings.corpora.vocabulary import Vocabulary, ranked
from embeddings.errors import CorpusError, SettingError
from embeddings.support.arrow_arrays import array, numbers, strings

WORDS = ("replace", "alternate")
BLOCK = 1 << 20  # tokens joined at a time, but at least twice join_kernel.RUN


class Joined(NamedTuple):
    """The files of ids, still to be renumbered, and of sentences; the counts of ids; and how many phrases stand in."""

    ids: Column
    sentences: Column
    counts: NDArray[np.int64]
    occurrences: int

    def close(self) -> None:
        """Complete the files."""
        self.ids.close()
        self.sentences.close()


def check_words(words: str) -> str:
    """What becomes of the words of a phrase: replace or alternate.

    Raises:
        SettingError: it is neither.
    """
    if words not in WORDS:
        raise SettingError(f"phrase-words must be {' or '.join(WORDS)}, not {words!r}")
    return words


def apply(
    encoded: EncodedCorpus, listed: PhraseList, folder: Path, *, joiner: str = "_", words: str = "replace"
) -> None:
    """Write the corpus to `folder` with phrases as tokens, words parted by `joiner`; counts are taken anew.

    Joining goes greedily from the left, the longest phrase first, within sentences, pass after pass. words: with
    "alternate" every second occurrence of a phrase stays as its words, so that phrase and words learn from the same
    places. Where a phrase looks like a word that is there already, the two become one.

    Raises:
        CorpusError: phrases are listed, and none has all its words in the corpus.
        OutputError: it cannot be written.
        SettingError: the joiner holds a letter, digit or white space, or `words` is not one of those.
    """
    check_joiner(joiner)
    tables, known = grammar(encoded.vocabulary, listed)
    if listed.phrases and not known.phrases:
        raise CorpusError(f"none of {len(listed)} phrases has all its words in the corpus")
    done = joined(encoded, tables, folder, alternate=check_words(words) == "alternate")
    names = [joiner.join(phrase.words) for phrase in known]
    vocabulary, rank = renamed(encoded.vocabulary, names, done.counts)
    vocabulary.total = done.ids.count
    done.ids.renumber(lambda old: rank[old])
    done.close()
    told = {"listed": len(listed), "known": len(known), "occurrences": done.occurrences}
    record = {"phrases": {**told, "joiner": joiner, "words": words}}
    longest = max((len(phrase.words) for phrase in known), default=1)
    with writing(folder / PHRASES):
        save_table(table_of(known), folder / PHRASES)
    finish(encoded, folder, vocabulary, done, {**record, "short": encoded.short * longest})


def joined(encoded: EncodedCorpus, tables: Grammar, folder: Path, *, alternate: bool = False) -> Joined:
    """Write ids and sentences to `folder`: words as they are numbered, phrases from the length of `inside` on."""
    ids, sentences = Column(folder / IDS, np.int32), Column(folder / SENTENCES, np.int64)
    sentences.append(np.zeros(1))
    phrases, size = len(tables.steps), max(BLOCK, 2 * join_kernel.RUN)
    out = (np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(len(tables.inside) + phrases, np.int64))
    turns = np.zeros(phrases * alternate, np.uint8)
    state, run = np.zeros(join_kernel.STATES, np.int64), np.empty(join_kernel.RUN, np.int32)
    more = True
    while more:
        more = join_kernel.join(encoded.ids, encoded.sentences, tuple(tables), turns, run, out, state)
        ids.append(out[0][: state[join_kernel.WRITTEN]])
        sentences.append(out[1][: state[join_kernel.ENDED]])
    return Joined(ids, sentences, out[2], int(state[join_kernel.JOINED]))


def tokens_of(encoded: EncodedCorpus, listed: PhraseList, folder: Path) -> tuple[Tokens, PhraseList]:
    """The corpus with these phrases joined, for detection to go on with, and those of them that are numbered in it."""
    vocabulary = encoded.vocabulary
    if not listed.phrases and not encoded.meta["given"]:
        counts = np.append(vocabulary.counts, len(encoded.ids) - vocabulary.tokens)
        return Tokens(encoded.ids, encoded.sentences, counts, len(vocabulary)), listed
    tables, known = grammar(vocabulary, listed)
    done = joined(encoded, tables, folder)
    done.close()
    ids = load_column(folder / IDS, "<i4", done.ids.count)
    sentences = load_column(folder / SENTENCES, "<i8", done.sentences.count)
    return Tokens(ids, sentences, done.counts, len(vocabulary)), known


def renamed(old: Vocabulary, names: list[str], counts: NDArray[np.int64]) -> tuple[Vocabulary, NDArray[np.int32]]:
    """The vocabulary of what occurs, and the place in it of each id: words, no word, phrases.

    counts: (words + 1 + phrases,).
    """
    import pyarrow

    unknown = len(old)
    coded = pyarrow.concat_arrays([strings(old.column), strings(names)]).dictionary_encode()
    codes = numbers(coded.indices)
    sums = np.zeros(len(coded.dictionary), np.int64)
    np.add.at(sums, codes, np.delete(counts, unknown))
    there = np.flatnonzero(sums)
    vocabulary, rank = ranked(coded.dictionary.take(array(there)), sums[there])
    places = np.full(len(sums), len(there), np.int32)
    places[there] = rank
    return vocabulary, np.insert(places[codes], unknown, len(there))


def finish(encoded: EncodedCorpus, folder: Path, vocabulary: Vocabulary, done: Joined, record: dict[str, Any]) -> None:
    """Complete the folder: the files that stay the same, the vocabulary, and what the corpus says of itself."""
    same = [DOCUMENTS] + [TAGS] * (TAGS in encoded.meta["files"])
    with writing(folder / META):
        for name in same:
            second(encoded.folder / name, folder / name)
        vocabulary.save(folder / VOCABULARY)
        names = [IDS, SENTENCES, VOCABULARY, PHRASES, *same]
        content = [encoded.fingerprint, done.ids.digest.hexdigest(), done.sentences.digest.hexdigest()]
        whole = sha256(json.dumps([*content, list(vocabulary.words)]).encode())
        new = {
            "fingerprint": whole.hexdigest()[:32],
            "tokens": done.ids.count,
            "types": len(vocabulary),
            "known": vocabulary.tokens,
            "given": False,
            "files": {name: (folder / name).stat().st_size for name in names},
        }
        (folder / META).write_text(
            json.dumps({**encoded.meta, **record, **new}, indent=1, ensure_ascii=False) + "\n", "utf-8"
        )
