"""CPU time of single calls of this package and of other libraries."""

from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Any, ClassVar

from studies.grid import Grid, Rows, collect, is_installed, markdown, run_embeddings
from studies.library_speed import OURS, run_code

BEFORE = """
import json, resource, sys, time
folder, rounds = sys.argv[1], int(sys.argv[2])
texts = open(folder + "/texts.txt", encoding="utf-8").read().splitlines()
words = open(folder + "/words.txt", encoding="utf-8").read().splitlines()
costs = {}
def measure(name, call, calls, items=1):
    call()
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            call()
        costs.setdefault(name, []).append(1e6 * (time.process_time() - start) / calls / items)
one, first, second, third = texts[0], *words[100:103]
"""
AFTER = """
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print("\\n" + json.dumps({**costs, "peak MB": [peak]}))
"""
PROGRAMS = {  # the library that each program needs, and its calls
    OURS: ("embeddings", """
import embeddings as em
vectors, classifier = em.load_model(folder + "/words").vectors, em.load_classifier(folder + "/labels")
measure("vector of a word", lambda: vectors[first], 20000)
measure("vector of an unknown word", lambda: vectors["unseenword"], 2000)
measure("cosine of two words", lambda: vectors.similarity(first, second), 5000)
measure("10 neighbours of a word", lambda: vectors.most_similar(first), 100)
measure("analogy", lambda: vectors.most_similar([first, second], [third]), 100)
measure("10 neighbours, 1,000 words at a time", lambda: vectors.most_similar_many(words[:1000]), 1, 1000)
measure("vector of a text", lambda: em.embed(vectors, [one]), 300)
measure("vector of a text, 1,000 at a time", lambda: em.embed(vectors, texts), 3, len(texts))
measure("label of a text", lambda: classifier.predict([one]), 300)
measure("label of a text, 1,000 at a time", lambda: classifier.predict(texts), 3, len(texts))
"""),
    "gensim": ("gensim", """
from gensim.models.fasttext import load_facebook_vectors
vectors = load_facebook_vectors(folder + "/words.bin")
measure("vector of a word", lambda: vectors[first], 20000)
measure("vector of an unknown word", lambda: vectors["unseenword"], 2000)
measure("cosine of two words", lambda: vectors.similarity(first, second), 5000)
measure("10 neighbours of a word", lambda: vectors.most_similar(first), 100)
measure("analogy", lambda: vectors.most_similar([first, second], [third]), 100)
"""),
    "fastText": ("fasttext", """
import fasttext
model, classifier = fasttext.load_model(folder + "/words.bin"), fasttext.load_model(folder + "/labels.bin")
measure("vector of a word", lambda: model.get_word_vector(first), 20000)
measure("vector of an unknown word", lambda: model.get_word_vector("unseenword"), 2000)
measure("10 neighbours of a word", lambda: model.get_nearest_neighbors(first), 100)
measure("analogy", lambda: model.get_analogies(first, third, second), 100)
measure("vector of a text", lambda: model.get_sentence_vector(one), 300)
measure("vector of a text, 1,000 at a time", lambda: [model.get_sentence_vector(text) for text in texts], 3, len(texts))
measure("label of a text", lambda: classifier.predict(one), 300)
measure("label of a text, 1,000 at a time", lambda: classifier.predict(texts), 3, len(texts))
"""),
    "model2vec": ("model2vec", """
from model2vec import StaticModel
model = StaticModel.from_pretrained(folder + "/model2vec")
measure("vector of a text", lambda: model.encode([one]), 300)
measure("vector of a text, 1,000 at a time", lambda: model.encode(texts), 3, len(texts))
"""),
    "FAISS": ("faiss", """
import faiss, numpy
rows = numpy.load(folder + "/unit.npy")
faiss.omp_set_num_threads(1)
index = faiss.IndexFlatIP(rows.shape[1])
index.add(rows)
measure("10 neighbours of a word", lambda: index.search(rows[100:101], 11), 100)
measure("10 neighbours, 1,000 words at a time", lambda: index.search(rows[:1000], 11), 1, 1000)
"""),
}  # fmt: skip


class Calls(Grid):
    """Measures CPU microseconds of single calls: vectors, neighbours, analogies, texts and labels, in five libraries.

    All read the same fastText vectors of --text and the same classifier of --labels, a file with `__label__` and a text
    in each line, each library in a process of its own with one thread; the libraries take turns. Libraries that are not
    installed are left out.
    """

    results = "comparison/calls"
    keys = ("text",)
    values = ("tool", "measure", "value")
    packages = ("gensim", "fasttext-numpy2", "model2vec", "faiss-cpu", "numpy")
    defaults: ClassVar = {"text": str, "labels": str, "rounds": 3, "turns": 3}
    about = "{words:,} words, {dim} dimensions, texts of {length:.0f} words on average; one thread, medians."

    def prepare(self) -> None:
        """Train the vectors and the classifier, and write them for each library."""
        import numpy as np

        import embeddings as em

        options, folder = self.options, self.folder
        one = ["--threads", 2, "--quiet"]
        run_embeddings(["train", "fasttext", options.text, "--epochs", 1, "-o", folder / "words", *one])
        run_embeddings(["train", "classifier", options.labels, "-o", folder / "labels", *one])
        for name in ("words", "labels"):
            run_embeddings(["export", folder / name, folder / f"{name}.bin", "--format", "fasttext"])
        vectors = em.load_model(folder / "words").vectors
        vectors.save(folder / "model2vec", "model2vec")
        np.save(folder / "unit.npy", vectors.unit_rows)
        with open(options.labels, encoding="utf-8") as file:
            texts = [line.split(" ", 1)[1].strip() for _, line in zip(range(1000), file, strict=False)]
        (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
        (folder / "words.txt").write_text("\n".join(vectors.words[:1200]), encoding="utf-8")
        length = fmean(len(text.split()) for text in texts)
        self.facts = {"words": len(vectors), "dim": vectors.dim, "length": length}

    def measure(self, text: str) -> Iterator[Sequence[Any]]:
        """The microseconds of each call and the memory, of each library in turn."""
        programs = {tool: code for tool, (library, code) in PROGRAMS.items() if is_installed(tool, library)}
        for turn in range(self.options.turns + 1):
            for tool, code in programs.items():
                _, costs = run_code(BEFORE + code + AFTER, self.folder, self.options.rounds, threads=1)
                if turn > 0:  # the first one compiles
                    yield from ((tool, name, value) for name, values in costs.items() for value in values)

    def table(self, rows: Rows) -> str:
        """A line for each call, a column for each library."""
        values = collect(rows, "tool")
        lines = [
            [name, *(f"{median(costs[name]):,.1f}" if name in costs else "" for costs in values.values())]
            for name in dict.fromkeys(row["measure"] for row in rows)
        ]
        return markdown(["CPU µs of a call, or MB", *(tool for (tool,) in values)], lines, names=1)
