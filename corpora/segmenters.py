"""Tokenizers of other libraries: segmenters, spaCy and Hugging Face tokenizers; advice for text without spaces."""

import json
import re
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unicodedata import category

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import CorpusError, RegistryError, SettingError
from embeddings.support.cache_folder import cache_folder
from embeddings.support.foreign_files import check_no_stream, format_errors
from embeddings.support.imports import import_extra

Segment = Callable[[str], Iterable[str]]
SEPARATOR = "\x01"  # between the tokens of a segmented line; in text it counts as a space


@dataclass(frozen=True)
class Segmenter:
    """A tokenizer of another library: a function from a line to its tokens, which runs in several processes.

    Corpora that it splits are cached, because the versions of its packages identify it.

    Arguments:
        name: its entry point in the group `embeddings.tokenizers`.
        load: returns the function, given the argument.
        module: the library, which is imported by `load` only.
        packages: the packages whose versions decide the tokens.
        argument: what follows the name, as in "spacy:de".
        argument_name: what the argument is, for messages; "" if there is none.
        is_required: whether the argument is required.
        keeps_punctuation: whether tokens without letters, marks and numbers stay.
    """

    name: str
    load: Callable[[str], Segment]
    module: str
    packages: tuple[str, ...]
    argument: str = ""
    argument_name: str = ""
    is_required: bool = False
    keeps_punctuation: bool = False

    @property
    def full_name(self) -> str:
        """The name and the argument, as `resolve_tokenizer` takes them."""
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @property
    def is_installed(self) -> bool:
        """Whether its library is installed."""
        return find_spec(self.module) is not None

    def check(self) -> None:
        """Raise RegistryError if the library is not installed, SettingError if a required argument is missing."""
        if not self.is_installed:
            raise RegistryError(
                f"the tokenizer {self.name} requires {self.module}, which is not installed: "
                f"pip install 'embeddings-toolkit[{self.name}]'"
            )
        if self.is_required and not self.argument:
            raise SettingError(f"the tokenizer {self.name} requires {self.argument_name}: {self.name}:...")

    @property
    def identity(self) -> dict[str, str]:
        """Everything that decides the tokens: package versions, and the digest of a file given as argument."""
        identity = {}
        for package in self.packages:
            try:
                identity[package] = version(package)
            except PackageNotFoundError:
                identity[package] = "none"
        if self.is_required and Path(self.argument).is_file():
            identity["file"] = sha256(Path(self.argument).read_bytes()).hexdigest()
        return identity

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a line, in this process.

        Raises:
            CorpusError: the library failed.
            SettingError: its argument is not valid.
        """
        segment = loaded(self)
        try:
            tokens = [token for token in segment(text) if token and not token.isspace()]
        except Exception as error:  # the library may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise CorpusError(f"the tokenizer {self.full_name} failed: {reason}") from error
        if self.keeps_punctuation:
            return tokens
        return [token for token in tokens if any(category(character)[0] in "LMN" for character in token)]


@cache
def loaded(segmenter: Segmenter) -> Segment:
    """Return the function of a segmenter, loaded once for each process."""
    return segmenter.load(segmenter.argument)


def load_jieba(_: str) -> Segment:
    """Load the Chinese segmenter jieba, in its default mode."""
    jieba: Any = import_extra("jieba", "jieba", "the tokenizer jieba")
    jieba.setLogLevel("ERROR")
    with ExitStack() as stack:  # not the system's folder for temporary files, whose files jieba would trust
        folder = cache_folder("segmenters") or stack.enter_context(TemporaryDirectory())
        jieba.dt.tmp_dir = str(folder)
        jieba.initialize()
    return lambda text: jieba.lcut(text)


def load_fugashi(_: str) -> Segment:
    """Load the Japanese segmenter MeCab with UniDic."""
    tagger: Any = import_extra("fugashi", "fugashi", "the tokenizer fugashi").Tagger("-Owakati")
    return lambda text: [word.surface for word in tagger(text)]


def load_pythainlp(engine: str) -> Segment:
    """Load the Thai segmenter PyThaiNLP with its dictionary or another engine."""
    word_tokenize: Any = import_extra("pythainlp.tokenize", "pythainlp", "the tokenizer pythainlp").word_tokenize
    return lambda text: word_tokenize(text, engine=engine or "newmm", keep_whitespace=False)


def load_hugging_face(path: str) -> Segment:
    """Load a `tokenizer.json` of the library tokenizers; special tokens are not added."""
    tokenizer = load_tokenizer(Path(path))
    return lambda text: tokenizer.encode(text, add_special_tokens=False).tokens


def load_tokenizer(path: Path) -> Any:
    """The tokenizer of a folder with a tokenizer.json, without limits: it keeps all of a text."""
    tokenizers = import_extra("tokenizers", "tokenizers", "a folder with a tokenizer.json")
    check_no_stream(path)
    with format_errors(path):
        tokenizer = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
    # a tokenizer of a transformer cuts texts at 512 tokens and fills them up, which would change their means
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def load_spacy(language: str) -> Segment:
    """Load spaCy's tokenizer of a language, by default "xx"."""
    spacy: Any = import_extra("spacy", "spacy", "the tokenizer spacy")
    try:
        tokenizer = spacy.blank(language or "xx").tokenizer
    except ImportError as error:
        raise SettingError(f"the tokenizer spacy:{language}: {' '.join(str(error).split())}") from error
    return lambda text: [token.text for token in tokenizer(text)]


jieba = Segmenter("jieba", load_jieba, "jieba", ("jieba",))
fugashi = Segmenter("fugashi", load_fugashi, "fugashi", ("fugashi", "unidic-lite", "unidic"))
pythainlp = Segmenter("pythainlp", load_pythainlp, "pythainlp", ("pythainlp",), argument_name="an engine")


def unknown_token(tokenizer: Any) -> str | None:
    """The token for unknown words of a tokenizer of the library tokenizers, if it has one.

    Models of the kind Unigram, as SentencePiece learns them, name it by its number only.
    """
    token: str | None = getattr(tokenizer.model, "unk_token", None)
    if token is None and (number := json.loads(tokenizer.to_str())["model"].get("unk_id")) is not None:
        token = tokenizer.id_to_token(number)
    return token


huggingface = Segmenter(
    "huggingface", load_hugging_face, "tokenizers", ("tokenizers",), argument_name="the path of a tokenizer.json",
    is_required=True, keeps_punctuation=True,
)  # fmt: skip
spacy = Segmenter("spacy", load_spacy, "spacy", ("spacy",), argument_name="the code of a language")


MAX_WORDS = 50_000  # most frequent words that are examined
MIN_SHARE = 0.1  # of the characters of these words, in a script
SPLIT_BY_SPACES = ("words", "alphanumeric", "whitespace", "ascii-whitespace")  # tokenizers


FIRST_CHARACTER = "\u0e00"  # the lowest code point of the scripts below
HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# scripts without spaces between words, the largest usual mean length of their words in code points, and tokenizers
UNSPACED_SCRIPTS = (
    ("Chinese or Japanese", HAN_OR_KANA, 4, "jieba (Chinese), fugashi (Japanese) or"),
    ("Thai", re.compile("[\u0e00-\u0e7f]"), 12, "pythainlp or"),
    ("Lao, Khmer or Burmese", re.compile("[\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f]"), 12, ""),
)


def script_advice(vocabulary: Vocabulary, tokenizer: str) -> str | None:
    """Return advice for a corpus whose words are too long for a script without spaces; None for other corpora."""
    if tokenizer not in SPLIT_BY_SPACES:
        return None
    words, counts = vocabulary.column[:MAX_WORDS].to_pylist(), vocabulary.counts[:MAX_WORDS]
    candidates = [row for row, word in enumerate(words) if word >= FIRST_CHARACTER]
    sizes = counts * list(map(len, words))
    for script, characters, longest, tokenizers in UNSPACED_SCRIPTS if candidates else ():
        rows = [row for row in candidates if characters.match(words[row])]
        mean = sizes[rows].sum() / max(counts[rows].sum(), 1)
        if mean > longest and sizes[rows].sum() >= MIN_SHARE * sizes.sum():
            return (
                f"words in {script} average {mean:.1f} characters, because there are no spaces between words: use "
                f"the tokenizer {tokenizers} characters, or the trainer sembei"
            )
    return None
