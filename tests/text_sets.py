"""Small test sets of texts whose topics are known."""

import csv
import json
import random

import numpy as np

import embeddings as em

WORDS = [f"w{number}" for number in range(60)]


def text(rng, topic, unknown=0.1):
    """Words of one topic among others; sometimes without a known word."""
    if rng.random() < unknown:
        return "nobody knows"
    words = [f"w{20 * topic + rng.randrange(20)}" for _ in range(3)] + [rng.choice(WORDS)]
    return " ".join(rng.sample(words, 4))


def write_csv(path, header, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def write_questions(path, questions, section="all"):
    """A set of analogies."""
    path.write_text(f": {section}\n" + "".join(" ".join(question) + "\n" for question in questions))
    return path


def labelled(path, count=120, seed=1):
    rng = random.Random(seed)
    rows = [(text(rng, topic), "abc"[topic]) for topic in (rng.choice([0, 0, 1, 2]) for _ in range(count))]
    return write_csv(path, ("text", "label"), rows), rows


def by_measure(results):
    return {(result.measure, result.method): result for result in results if not result.is_detail}


def write_retrieval(folder, judgements=None, queries=40, documents=150):
    """Queries and documents of three topics; documents of the topic of a query are relevant, some of them more."""
    rng = random.Random(8)
    topics = [rng.randrange(3) for _ in range(documents)]
    corpus = [
        {"_id": f"d{n}", "title": f"w{rng.randrange(60)}", "text": text(rng, topic)} for n, topic in enumerate(topics)
    ]
    asked = [{"_id": f"q{n}", "text": text(rng, n % 3)} for n in range(queries)]
    if judgements is None:
        judgements = [
            (f"q{n}", f"d{document}", rng.choice([0, 1, 1, 2]))
            for n in range(queries - 2)
            for document in rng.sample([d for d, topic in enumerate(topics) if topic == n % 3], 6)
        ]
    for name, rows in (("queries.jsonl", asked), ("corpus.jsonl", corpus)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in judgements)]
    (folder / "test.tsv").write_text("\n".join(lines) + "\n")
    return [folder / name for name in ("queries.jsonl", "corpus.jsonl", "test.tsv")]


def write_sets(folder):
    """A test set of each kind for vectors of `WORDS`, as settings of `evaluate`."""
    rng = random.Random(4)

    def write(name, lines):
        (folder / name).write_text("\n".join(lines) + "\n")
        return folder / name

    tagged = [f"w{n}\t{'XYZ'[n // 20]}" + "\n" * (n % 4 == 3) for n in rng.choices(range(60), k=200)]
    lists = [f"t\t{n % 2 + 2 * (n >= 30)}\tw{n}\t{'target' if n < 30 else 'attribute'}" for n in range(60)]
    rated = [f"p{n % 3} adjectivenouns 0 w{n} w{n + 1} w{n + 2} w{n + 3} {rng.randrange(7)}" for n in range(40)]
    heading = "participant type ver s1lemma1 s1lemma2 s2lemma1 s2lemma2 rating"
    em.Vectors(WORDS, np.random.default_rng(7).standard_normal((60, 8))).save(folder / "target.vec")
    texts, _ = labelled(folder / "texts.csv")
    pairs = [(text(rng, n % 3, 0), text(rng, n % 2, 0), n % 5) for n in range(40)]
    return {
        "similarity": {"similarity": write("pairs", [f"w{n} w{n + 1} {n % 7}" for n in range(59)])},
        "analogy": {"analogy": write("q", [f"w{n} w{n + 1} w{n + 2} w{n + 3}" for n in range(50)]), "restrict": "all"},
        "phrases": {"phrases": write("rated", [heading, *rated])},
        "categories": {"categories": write("names", [f"w{n}\t{'xyz'[n // 20]}" for n in range(60)])},
        "translation": {"translation": write("d", [f"w{n} w{n}" for n in range(60)]), "target": folder / "target.vec"},
        "association": {"association": write("lists.tsv", ["test\tlist\tword\trole", *lists])},
        "tagging": {"tagging": f"{write('train', tagged[:120])},{write('test', tagged[120:])}"},
        "documents": {"documents": texts},
        "pairs": {"pairs": write_csv(folder / "texts-of-pairs.csv", ("a", "b", "score"), pairs)},
        "retrieval": {"retrieval": write_retrieval(folder)},
        "clustering": {"clustering": texts},
    }
