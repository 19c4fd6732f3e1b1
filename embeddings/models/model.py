"""A trained model, saved as a folder: vectors, all tables and settings, and the record of its training."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from embeddings import registry
from embeddings.corpora.encoded_corpus import TagFile
from embeddings.corpora.reading.sources import Texts
from embeddings.corpora.remapping import id_mapping
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.corpora.word_rules import WordForm
from embeddings.errors import FormatError, NoWordsError, S, SettingError
from embeddings.indexes.cosine_search import check_search
from embeddings.models import document_vectors, model_files
from embeddings.models.text_settings import corpus_settings
from embeddings.setting_names import InteropMixin
from embeddings.settings import Positive, Range, check_list, check_value
from embeddings.settings.setting_fields import refuse_unknown
from embeddings.support import tensors
from embeddings.support.arrow import write_table
from embeddings.support.files import atomic_write
from embeddings.support.foreign_files import format_errors
from embeddings.support.html_elements import Html, tag
from embeddings.support.local_paths import local_path
from embeddings.support.progress_display import ProgressOption, showing
from embeddings.support.records import to_jsonable
from embeddings.support.result_table import ResultTable
from embeddings.vectors import file_format
from embeddings.vectors.compact_rows import CompactRows, Storage
from embeddings.vectors.search import Neighbours, Query
from embeddings.vectors.vectors import Compose, Vectors, vectors_html

if TYPE_CHECKING:
    from embeddings.classifier.classifier import LabelPredictor, Predictions
    from embeddings.corpora import Corpus

Epochs = Annotated[int, Range(ge=1, le=1_000_000)]


class Capabilities:
    """Optional capabilities of a trainer's models; a subclass overrides the capabilities that it has.

    composer: a static method that returns, for a model, a function that computes vectors of any words: `Model.compose`.
    inferencer: one that returns, for a model, a function that infers vectors of new documents: `Model.infer`.
    predictor: one that returns, for a model, its `LabelPredictor`: `Model.classifier`. The same function as an entry
        point of the group `embeddings.classifiers`, under the trainer's name, lets predictions import no training code.
    context_encoder: one that returns, for a model, a function from sentences, as rows of the vocabulary, to the vectors
        of the contexts of their words: `Model.context_vector`.
    word_predictor: one that returns, for a model, its `embeddings.training.word_predictor.WordPredictor`, or an object
        with its attributes `total_loss`, `has_probabilities` and `hidden_dim`: the probabilities of words in text.
    text_pool: how vectors of words become those of texts by default, as the argument `pool` of `embeddings.embed`;
        recorded in each model. "mean" where the trainer learns means of word vectors.
    """

    composer: ClassVar[Any] = None
    inferencer: ClassVar[Any] = None
    predictor: ClassVar[Any] = None
    context_encoder: ClassVar[Any] = None
    word_predictor: ClassVar[Any] = None
    text_pool: ClassVar[str] = "sif"


def capabilities_of(trainer: Any) -> type[Capabilities]:
    """The capabilities of a trainer class; none if it declares none."""
    return trainer if isinstance(trainer, type) and issubclass(trainer, Capabilities) else Capabilities


MISSING = {  # what models without a capability cannot do, and which ones can
    "composer": "cannot compose vectors: only vocabulary words have one",
    "inferencer": "cannot infer document vectors; train paragraph-dbow or paragraph-dm",
    "predictor": "predict no labels; train a classifier",
    "context_encoder": "have no vectors of contexts; train context2vec",
    "word_predictor": (
        "do not predict words of new text from their contexts alone: use skipgram, cbow, structured-skipgram, "
        "directional-skipgram, continuous-window or fasttext"
    ),
}


def installed_capability(model: "Model", name: str) -> Any:
    """A capability of a model, made by its installed trainer.

    Raises:
        SettingError: models of the trainer lack it.
        RegistryError: the trainer is not installed.
    """
    make = getattr(capabilities_of(registry.load("trainer", model.name)), name)
    capability = None if make is None else make(model)
    if capability is None:
        raise SettingError(f"{model.name} models {MISSING[name]}")
    return capability


def word_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, with probabilities of words."""
    predictor = held_out_predictor(model)
    if not predictor.has_probabilities:
        raise SettingError(
            f"this {model.name} model has no probabilities of words: negative sampling does not define them; train it "
            "with another objective, such as hierarchical-softmax or nce"
        )
    return predictor


def held_out_predictor(model: "Model") -> Any:
    """The `WordPredictor` of a model, which may have a loss without probabilities of words; errors as above."""
    return installed_capability(model, "word_predictor")


def installed_composer(model: "Model") -> Compose:
    """The compose function of a model, made by its installed trainer."""
    compose: Compose = installed_capability(model, "composer")
    return compose


RECORD_FIELDS = ("seed", "threads", "words", "seconds", "words_per_second", "loss_by_epoch")


TEXT_POOL, MEAN = "text_pool", "mean"  # in the record of a model: how vectors of texts are pooled by default
MEAN_TRAINERS = ("classifier", "distill", "text-pairs")  # whose models may be older than this part of the record
GAP, OUTPUT, NEGATIVE_SAMPLING = "[]", "output", "negative-sampling"
N_FREQUENT = 10_000  # words that show whether the words of a model were converted


class Model(InteropMixin):
    """A trained model.

    Arguments:
        name: the name of the trainer, such as "skipgram".
        vectors: one for each word of `vocabulary`, in the same order.
        vocabulary: words and counts of the corpus.
        settings: all settings of the trainer, as JSON values.
        tables: further arrays by name, such as "output".
        record: the training record: seed, threads, seconds, words, loss, the corpus's fingerprint.
        packages: versions of the packages that trained it; by default the installed ones.
        composer: `composer(model)` returns a function from texts to vectors. It is also the
            trainer's attribute `composer`, through which a saved model finds it.
        tags: a pyarrow array of strings, one for each row of the table "documents"; None if documents are numbered.
        phrases: the phrases of the corpus, as `EncodedCorpus.phrases`; None if there are none.
        labels: the labels that the model predicts, with their numbers of texts; None if it predicts none.
        compact: tables of a small model, by name; see `quantize`.

    Threads may share a Model, and forked processes may go on with it, as with `Vectors`: no method changes it. A
    program that uses torch must start processes with models of recurrent networks by "spawn".

    Raises:
        SettingError: words and vocabulary differ, or a table is called "vectors".
    """

    CACHED_ATTRIBUTES = ("_compose", "_text_form", "_infer", "_encode_contexts", "classifier", "documents")

    def __init__(
        self,
        name: str,
        *,
        vectors: Vectors,
        vocabulary: Vocabulary,
        settings: Mapping[str, Any] | None = None,
        tables: Mapping[str, np.ndarray] | None = None,
        record: Mapping[str, Any] | None = None,
        packages: Mapping[str, str] | None = None,
        composer: Callable[["Model"], Compose] | None = None,
        tags: Any = None,
        phrases: Any = None,
        labels: Vocabulary | None = None,
        compact: Mapping[str, CompactRows] | None = None,
    ) -> None:
        self.name = name
        self.compact: dict[str, CompactRows] = dict(compact or {})
        self.labels = labels
        self.tags = tags
        self.phrases = phrases
        self.composer = composer
        self.vectors = vectors
        self.vocabulary = vocabulary
        self.settings: dict[str, Any] = dict(settings or {})
        self.tables: dict[str, np.ndarray] = dict(tables or {})
        self.record: dict[str, Any] = dict(record or {})
        self.packages: dict[str, str] = dict(model_files.package_versions() if packages is None else packages)
        if model_files.VECTORS in self.tables:
            raise SettingError(
                f"a table must not be called {model_files.VECTORS!r}, which is the table of word vectors"
            )
        if vectors.word_list is not vocabulary.word_list and list(vectors.words) != list(vocabulary.words):
            raise SettingError(f"vectors and vocabulary have different words: {len(vectors)} and {len(vocabulary)}")
        vectors.text_pool = self.record.get(TEXT_POOL, MEAN if name in MEAN_TRAINERS else vectors.text_pool)
        if vectors.word_form is None:
            vectors.word_form = WordForm.recorded(self.record.get("text"))
        # Looking up an unknown word in the vectors then composes, as `compose` does.
        if composer is not None:
            vectors.compose = self.compose

    def __getitem__(self, key: str | Sequence[str]) -> np.ndarray:
        """The vector of a word, or the vectors of a list of words: `vectors[key]`."""
        return self.vectors[key]

    def __contains__(self, word: object) -> bool:
        return word in self.vectors

    def most_similar(self, positive: Query, negative: Query = (), **options: Any) -> Neighbours:
        """The words nearest to words or vectors, with the options and errors of `Vectors.most_similar`."""
        return self.vectors.most_similar(positive, negative, **options)

    def compose(self, texts: Sequence[str], second: str | None = None, **choice: str | None) -> np.ndarray:
        """Compose vectors for texts, (texts, dim) float32; zeros for a text without any known part.

        A phrase model also takes two words, as in `compose("red", "car")`, and returns one vector (dim,).

        Arguments:
            texts: the texts, which may be words of the vocabulary.
            choice: `type` and `function`; see `embeddings.plugins.tensor_indexing.composer.Composer.compose`.

        Raises:
            SettingError: models of this trainer do not compose vectors, or compose no phrases.
            RegistryError: the trainer of a saved model is not installed.
            FormatError: a table or setting is missing or broken.
        """
        if second is None and not choice:
            items = check_list("texts", texts)
            return self._compose([self._text_form(text) if isinstance(text, str) else text for text in items])
        compose_phrase: Callable[..., np.ndarray] | None = getattr(self._compose, "compose", None)
        if compose_phrase is None or second is None:
            expected = "a list of texts" + " or two words" * (compose_phrase is not None)
            raise SettingError(f"compose of {self.name} models takes {expected}")
        return compose_phrase(texts, second, **choice)

    @cached_property
    def _text_form(self) -> Callable[[str], str]:
        """Converts texts as the training text was; `str` if the model's words were not converted: tokens are not."""
        form = WordForm.recorded(self.record.get("text"))
        frequent = self.vectors.word_list.first(N_FREQUENT)
        return str if form is None or any(form.of_text(word) != word for word in frequent) else form.of_text

    @cached_property
    def _compose(self) -> Compose:
        if self.composer is None:
            raise SettingError(f"{self.name} models {MISSING['composer']}")
        return self.composer(self)

    @cached_property
    def documents(self) -> Vectors:
        """The vectors of the training documents, named by their tags, or numbered from "0" on.

        Raises:
            SettingError: the model has none.
        """
        table = self.tables.get(document_vectors.DOCUMENTS)
        if table is None:
            raise SettingError(f"{self.name} models have no document vectors; train paragraph-dbow or paragraph-dm")
        names = document_vectors.document_numbers(len(table)) if self.tags is None else self.tags.to_pylist()
        with format_errors(f"the {self.name} model"):
            return document_vectors.DocumentVectors(names, table)

    def infer(
        self,
        documents: "Corpus | Iterable[Any] | None" = None,
        *,
        texts: "Corpus | Iterable[Any] | None" = None,
        tags: Sequence[Sequence[str]] | None = None,
        epochs: Epochs | None = None,
        seed: int = 1,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> np.ndarray:
        """Infer vectors for new documents, (documents, dim) float32; the model is not changed.

        A vector depends only on the text, its tags and the seed, not on threads or other texts. Texts are tokenized as
        in training; unknown words are skipped, and a text without known words gets zeros.

        Arguments:
            documents: texts, or lists of tokens, which are used as they are; or a `Corpus` of documents.
            texts: in place of `documents`, texts that may all be single words.
            tags: those of each text, such as its author: their trained vectors take part in the predictions of
                paragraph-dm, not of paragraph-dbow; unknown ones are skipped. Those of a corpus follow the names.
            epochs: passes over each text; the learning rate falls linearly over all of them. By default as in training.
            progress: True shows a bar, False none; by default there is one on a terminal and in a notebook. A function
                is called with the number of texts done, and the total.

        Raises:
            SettingError: models of this trainer have no documents, an argument is out of range, or all of several
                `documents` are single words, which may be one document.
            RegistryError: the trainer or the tokenizer of a saved model is not installed.
            FormatError: a table or setting is missing or broken.
            CorpusError: as `Corpus.encode`.
        """
        items = document_vectors.new_documents(self.vectors.word_form, documents, texts, tags is not None)
        with showing(progress, "inferring", "texts") as shown:
            return self._infer(items, tags=tags, epochs=epochs, seed=seed, threads=threads, report=shown)

    @refuse_unknown
    def predict_output_word(self, context_words: Sequence[str], top: int = 10) -> Neighbours:
        """Predict the words most probable in a context, each with its probability, most probable first.

        The probabilities are those of the model's objective given the mean of the context's vectors, or their sum if
        the model was trained with combine="sum"; for negative sampling, the softmax of the products with all output
        vectors. Unknown words of the context are skipped.

        Raises:
            SettingError: the model has no output vector for each word, no word of the context is known, or `top` is
                below 1.
        """
        check_search(top, None)
        context_words = check_list("context_words", context_words, "words")
        objective = self.settings.get("objective", NEGATIVE_SAMPLING)
        predictor = None if objective == NEGATIVE_SAMPLING else word_predictor(self)
        if predictor is not None and (predictor.hidden_dim != self.vectors.dim or predictor.slots != 1):
            predictor = None
        table = self.vectors.matrix if self.settings.get("tie") else self.tables.get(OUTPUT)
        if predictor is None and (table is None or table.shape != self.vectors.matrix.shape):
            problem = f"requires an output vector for each word, which this {self.name} model lacks"
            raise SettingError(f"predict_output_word {problem}: use skipgram, cbow or fasttext")
        ids = [self.vectors.index(word) for word in context_words if word in self.vectors]
        if not ids:
            raise SettingError(f"no word of the context is in the vocabulary: {list(context_words)!r:.80}")
        hidden = self.vectors.matrix[ids].sum(axis=0, dtype=np.float64)
        if self.settings.get("combine", "mean") == "mean":
            hidden /= len(ids)
        if predictor is not None:
            probabilities = np.exp(predictor.log_probabilities(hidden[None])[0])
        else:
            scores = np.asarray(table @ hidden, dtype=np.float64)
            # Minus the highest score, so that no power overflows.
            powers = np.exp(scores - scores.max())
            probabilities = powers / powers.sum()
        order = np.argsort(-probabilities, kind="stable")[:top]
        pairs = [(self.vectors.words[row], float(probabilities[row])) for row in order]
        return Neighbours(pairs, columns={"word": "", "probability": ""})

    def context_vector(self, text: str) -> np.ndarray:
        """The vector of the context of a gap, such as "I ate a [] for lunch", float32 (dim,).

        The text is split into words as in training; unknown words are read as the unknown word.

        Raises:
            SettingError: models of this trainer encode no contexts, or the text does not have one gap, [].
            RegistryError: the trainer of a saved model is not installed.
            FormatError: a table or setting is missing or broken.
        """
        return np.asarray(self.context_vectors([text])[0])

    def context_vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of the contexts of the gaps of several texts, float32 (texts, dim); see `context_vector`."""
        from embeddings.corpora.corpus import Corpus  # imports numba

        texts, parts = check_list("texts", texts), []
        if not texts:
            return np.zeros((0, self.vectors.dim), np.float32)
        for text in texts:
            sides = text.split(GAP)
            if len(sides) != 2:
                problem = "no gap" if len(sides) == 1 else f"{len(sides) - 1} gaps"
                example = f"'I ate a {GAP} for lunch'"
                raise SettingError(f"a text must have one gap, {GAP}, as in {example}: {text!r:.80} has {problem}")
            parts += sides
        ids, gap = [np.zeros(0, np.int64)] * len(parts), [len(self.vocabulary)]  # of words, or for unknown words
        # All sides are read as one corpus, of which each is a document; without any word `ids` stay empty.
        with suppress(NoWordsError), Corpus(Texts(parts), **corpus_settings(self)).encode() as encoded:
            rows = id_mapping(encoded.vocabulary, self.vocabulary)[np.asarray(encoded.ids)].astype(np.int64)
            ids = np.split(rows, np.asarray(encoded.sentences)[np.asarray(encoded.documents)][1:-1])
        sentences = [np.concatenate([left, gap, right]) for left, right in zip(ids[::2], ids[1::2], strict=True)]
        contexts = self._encode_contexts(sentences)
        return np.stack([row[len(left)] for row, left in zip(contexts, ids[::2], strict=True)])

    def substitutes(self, text: str, top: int = 10) -> Neighbours:
        """The words that best fit a gap, such as [] in "I ate a [] for lunch", with their cosines, best first.

        Raises:
            SettingError: as `context_vector`, or `top` is below 1.
        """
        return self.vectors.most_similar(self.context_vector(text), top=top)

    @cached_property
    def _encode_contexts(self) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
        encode: Callable[..., list[np.ndarray]] = installed_capability(self, "context_encoder")
        return encode

    @cached_property
    def _infer(self) -> document_vectors.Infer:
        infer: document_vectors.Infer = installed_capability(self, "inferencer")
        return infer

    @cached_property
    def classifier(self) -> "LabelPredictor":
        """The classifier of a model trained on labels, which predicts labels of texts.

        Raises:
            SettingError: models of this trainer have no labels.
            RegistryError: the trainer of a saved model is not installed.
        """
        if self.name in registry.find_all("classifier"):
            return registry.load("classifier", self.name)(self)  # type: ignore[no-any-return]
        classifier: LabelPredictor = installed_capability(self, "predictor")
        return classifier

    def predict(
        self, texts: Iterable[str], k: int = 1, threshold: float = 0.0, *, threads: int | None = None
    ) -> "Predictions":
        """Predict the most probable labels of texts; see `LabelPredictor.predict`."""
        return self.classifier.predict(texts, k, threshold, threads=threads)

    def predict_proba(self, texts: Iterable[str], *, threads: int | None = None) -> np.ndarray:
        """The probabilities of all labels, float32 (texts, labels); see `LabelPredictor.predict_proba`."""
        return self.classifier.predict_proba(texts, threads=threads)

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without the composer: unpickling finds it by the trainer's name, as in a saved model."""
        return super().__getstate__() | ({} if self.composer is None else {"composer": installed_composer})

    def __repr__(self) -> str:
        return f"<Model {self.name}: {len(self.vectors)} words, {self.vectors.dim} components>"

    def _repr_html_(self) -> str:
        values = self.settings | {name: self.record[name] for name in RECORD_FIELDS if name in self.record}
        table = ResultTable([{"setting": name, "value": str(value)} for name, value in values.items()])
        details = tag("details", tag("summary", "settings and training"), Html(table._repr_html_()))
        return tag("div", tag("p", tag("b", "Model"), f" {self.name}"), details, vectors_html(self.vectors))

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Save to a folder, atomically.

        It contains model.json, vocabulary.arrow and tensors.safetensors; also documents.arrow if documents have tags,
        phrases.arrow if the corpus has phrases, and labels.arrow if the model predicts labels.

        Arguments:
            force: replace an existing saved model; nothing else is ever replaced.

        Raises:
            OutputError: the path exists or cannot be written.
            SettingError: a vector contains NaN or infinity.
        """
        model_files.check_target(path, force=force)
        self.vectors.check_finite()
        content = {
            "format_version": model_files.FORMAT_VERSION,
            "model": self.name,
            "composes": self.composer is not None,
            "settings": self.settings,
            "packages": self.packages,
            "record": self.record,
        }
        text = json.dumps(to_jsonable(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        with atomic_write(path, force=force, folder=True, removable=model_files.FILES) as folder:
            (folder / model_files.MODEL_JSON).write_text(text, encoding="utf-8")
            self.vocabulary.save(folder / model_files.VOCABULARY)
            # Vectors that are the first rows of the inputs are not saved a second time.
            arrays = dict(self.tables)
            if self.vectors.compact is None and model_files.INPUTS not in arrays:
                arrays[model_files.VECTORS] = self.vectors.matrix
            for table, rows in ({model_files.VECTORS: self.vectors.compact} | self.compact).items():
                arrays |= {} if rows is None else rows.tensors(table)
            tensors.save(arrays, folder / model_files.TENSORS)
            if self.tags is not None:
                file = TagFile(folder / model_files.TAGS)
                for start in range(0, len(self.tags), 1 << 16):
                    file.append(self.tags.slice(start, 1 << 16))
                file.close()
            if self.phrases is not None:
                write_table(self.phrases, folder / model_files.PHRASES)
            if self.labels is not None:
                self.labels.save(folder / model_files.LABELS)

    def quantize(
        self, cutoff: Positive | None = None, *, storage: Storage = "codes", dsub: Positive = 2, seed: int = 1
    ) -> "Model":
        """A small copy of the model, to be saved and used.

        It has the vectors of words, of documents, and of n-grams if the model composes unknown words. It cannot be
        trained further, infer vectors of new documents or predict words: their tables are left out. A saved small model
        is memory-mapped, and vectors are decoded as they are read: those of n-grams for the words that need them, those
        of all words when neighbours are searched or texts embedded.

        Arguments:
            cutoff: keep the N n-grams with the largest norms, and take others as zero; by default all.
            storage: "float16" and "int8" round each component, and "codes" replaces each part of a direction, and the
                norm, by one byte, by product quantisation (Jégou, Douze and Schmid 2011).
            dsub: the number of components that share a code; more make the copy smaller and less accurate.
            seed: of the samples that k-means starts from.

        Raises:
            SettingError: an argument is out of range, the model is small already, predicts labels (its `classifier` can
                be quantised), or composes vectors of other parts than n-grams; or a vector contains NaN.
        """
        check_value("cutoff", cutoff, Positive | None, {})
        check_value("storage", storage, Storage, {})
        check_value("dsub", dsub, Positive, {})
        check_value("seed", seed, int, {"ge": 0})
        vectors, compose = self.vectors, None if self.composer is None else self._compose
        names = [name for name, table in self.tables.items() if table is getattr(compose, "ngrams", None)]
        for problem, is_there in (
            ("it predicts labels: use model.classifier.quantize", self.labels is not None),
            ("it is small already: use the model that it was made from", vectors.compact is not None),
            ("it composes vectors of other parts than n-grams", compose is not None and not names),
            (f"it has no n-grams, which {S.cutoff} selects", cutoff is not None and not names),
        ):
            if is_there:
                raise SettingError(f"this {self.name} model cannot be quantized: {problem}")
        encode = partial(CompactRows.encode, storage=storage, part_size=dsub, seed=seed)
        # Other tables with a row for each word or n-gram only serve training.
        sizes = {len(vectors), *(len(self.tables[name]) for name in names)}  # of tables for training
        return Model(
            self.name,
            vectors=Vectors(vectors.word_list, encode(vectors.matrix), counts=vectors.counts),
            vocabulary=self.vocabulary,
            settings=self.settings,
            tables={
                name: table
                for name, table in self.tables.items()
                if name == document_vectors.DOCUMENTS or len(table) not in sizes
            },
            record=self.record,
            packages=self.packages,
            composer=self.composer,
            tags=self.tags,
            phrases=self.phrases,
            compact={name: encode(self.tables[name], cutoff=cutoff) for name in names},
        )

    def export(
        self, path: str | os.PathLike[str], format: str | None = None, *, force: bool = False, **options: Any
    ) -> None:
        """Write a file for other tools: the whole model if the format supports it, such as fasttext, else its vectors.

        Arguments and errors are those of `Vectors.save`.
        """
        file_format.write_model(self, path, format=format, force=force, **options)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Model":
        """Load a saved model; vectors and tables are memory-mapped, read-only.

        Raises:
            FormatError: a file is missing, broken or of an unknown version, or the files do not fit together.
        """
        folder = local_path(path)
        fields = model_files.read_model_json(folder)
        vocabulary = model_files.read_vocabulary(folder / model_files.VOCABULARY)
        vectors, tables, compact = model_files.read_tensors(folder, vocabulary)
        name, composer = fields.pop("model"), installed_composer if fields.pop("composes") else None
        extras = document_vectors.load_extras(folder, tables.get(document_vectors.DOCUMENTS))
        return cls(
            name,
            vectors=vectors,
            vocabulary=vocabulary,
            tables=tables,
            compact=compact,
            composer=composer,
            **extras,
            **fields,
        )


def saved_array(model: Model, name: str, shape: tuple[int | None, ...], kind: str = "float32") -> Any:
    """A table of a saved model, with rows decoded when they are read if it is small.

    Arguments:
        shape: the expected shape; None stands for any number.
        kind: the expected data type.

    Raises:
        FormatError: the table is missing, or has another shape or type.
    """
    table = model.compact.get(name, model.tables.get(name))
    own_kind, own_shape = str(getattr(table, "dtype", kind)), getattr(table, "shape", ())
    fits = len(shape) == len(own_shape) and all(a in (b, None) for a, b in zip(shape, own_shape, strict=True))
    if table is None or not fits or own_kind != kind:
        expected = f"({', '.join('any' if size is None else str(size) for size in shape)})"
        problem = "none" if table is None else f"{own_kind} {own_shape}"
        raise FormatError(
            f"the {model.name} model is broken: expected a table {name!r} {kind} {expected}, got {problem}"
        )
    return table
