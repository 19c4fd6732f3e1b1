"""Bad input of commands: one line that names the file or the options, an exit code, and an unchanged folder."""

import gzip
import json
import os

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, refused
from supervised_models import supervised_model

import embeddings as em

ROWS = [{"id": n, "text": f"the king saw dog{n}", "period": period} for n, period in enumerate(("old", "new"))]
FILES = {
    "text.txt": TEXT,
    "empty.txt": "",
    "blank.txt": "\n \n",
    "words.txt": "king\nqueen\n",
    "rows.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS),
    "untagged.jsonl": '{"text": "one two", "period": null}\n' * 3,
    "labels.txt": "__label__a the king\n__label__b the dog\n" * 9,
    "same.tsv": "a b\tc d\t1\n" * 3,
    "ragged.tsv": "a\tb\nc\td\te\n",
    "there/precious": "kept",
    "new.npy": "",
    "new.txt": "emu\n",
    "counts.txt": "the 9\nking 8\n",
    "start.txt": "king 1 2\nqueen 3 4\n",
    "folder.arrow/x": "",
    "damaged.toml": "dim = ",
    "duplicate.toml": "dim = 1\ndim = 2\n",
    "other.toml": "tag-combination = 'sum'\n",
    "settings.txt": "epochs = 1\n",
    "short.txt": "one\n\ntwo\n",
    "stop.bin": "__label__a the king\n",
}
BOTH = ("train", "tune")
LOGS = {  # what a log would overwrite, with what `train` says of it
    "model": "--out", "model/run.jsonl": "--out", "model.checkpoints": "the checkpoints", "start.txt": "--init",
    "counts.txt": "--vocabulary",
}  # fmt: skip
TRAIN = ["train", "skipgram", "text.txt", "-o", "x"]
CONTINUE = ["train", "--continue", "model", "text.txt", "-o", "x"]
CLASSIFIER = ["train", "classifier", "labels.txt", "-o", "x"]
TUNE = ["tune", "skipgram", "text.txt", "-o", "x", "--metric", "similarity:pairs.tsv", "--trials", "1"]
TUNED = ["tune", "classifier", "labels.txt", "-o", "x", "--trials", "1", "--metric"]
LOG = [*TRAIN[:-1], "model", "--init", "start.txt", "--vocabulary", "counts.txt", "--dim", "2", "--force", "--log"]
INDUCE = ["induce", "model", "text.txt", "words.txt", "-o", "x.txt"]
SHIFT = ["shift", "rows.jsonl", "--text-column", "text"]
EVALUATE = ["evaluate", "v.bin"]
EXPLORE = ["explore", "model", "--no-browser"]
FIT = ["fit", "v.bin", "-o", "x"]
QUANTIZE = ["quantize", "m.ftz", "-o", "x.ftz"]
BAD = [
    (["nonsense"], 2, ["'nonsense'"]),
    (["supervised", "-input", "t.txt"], 2, ["Use train classifier."]),
    (["test", "m.bin", "t.txt"], 2, ["Use evaluate --labels."]),
    (["trian"], 2, ["Use train."]),
    (["xyzzy"], 2, ["See --help."]),
    ([*TRAIN, "--vector_size", "4"], 2, ["No such option: --vector_size. ", "Use --dim."]),
    ([*TRAIN, "-size", "4"], 2, ["No such option: -size. ", "Use --dim."]),
    ([*TRAIN, "-minCount", "4"], 2, ["No such option: -minCount. ", "Use --min-count."]),
    ([*TRAIN, "-output", "v"], 2, ["No such option: -output. ", "Use --out."]),
    ([*TRAIN, "--vocab", "4"], 2, ["No such option: --vocab. ", "Use --vocabulary."]),
    ([*TRAIN, "--epohcs", "4"], 2, ["No such option: --epohcs. ", "Use --epochs."]),
    ([*TRAIN, "-cbow", "1"], 2, ["No such option: -cbow. ", "skipgram or cbow"]),
    ([*TRAIN, "-hs", "1"], 2, ["No such option: -hs. ", "objective"]),
    ([*TRAIN, "-wordNgrams", "2"], 2, ["No such option: -wordNgrams. ", "trainer classifier"]),
    ([*TRAIN, "--wat", "1"], 2, ["No such option: --wat. ", "See --help."]),
    *(([one, "fasttext", *TRAIN[2:], "--tie"], 2, ["No such option: --tie. ", "cbow, skipgram"]) for one in BOTH),
    *(([one, *TRAIN[1:], "--tag-count", "2"], 2, ["of paragraph-dm."]) for one in BOTH),
    ([*TRAIN, "--min-learning-rate", "1"], 2, ["--min-learning-rate 1.0", "--learning-rate"]),
    (["train", "fasttext", *TRAIN[2:], "--max-n", "0", "--buckets", "9"], 2, ["--max-n above 0"]),
    ([*TRAIN, "--config", "missing.toml"], 1, ["missing.toml", "cannot be read"]),
    ([*TRAIN, "--config", "there"], 1, ["there"]),
    ([*TRAIN, "--config", "damaged.toml"], 1, ["damaged.toml", "settings in TOML"]),
    ([*TRAIN, "--config", "duplicate.toml"], 1, ["duplicate.toml", "settings in TOML"]),
    ([*TRAIN, "--config", "latin.txt"], 1, ["latin.txt", "settings in TOML"]),
    ([*TRAIN, "--config", "other.toml"], 2, ["other.toml", "setting of paragraph-dm"]),
    ([*TRAIN[:-1], "text.txt", "--force"], 2, ["output text.txt", "corpus text.txt"]),
    ([*TRAIN[:-1], "text.npy", "--force"], 2, ["output text.txt", "corpus text.txt"]),
    (["vocabulary", "text.txt", "-o", "text.txt", "--force"], 2, ["output text.txt", "corpus text.txt"]),
    *(([*LOG, log], 2, [f"output {log} would overwrite {conflict} "]) for log, conflict in LOGS.items()),
    ([*CONTINUE, "--log", "model/model.json", "--force"], 2, ["overwrite --continue model"]),
    *(
        ([*TRAIN[:-1], out, option, file, "--force"], 2, [f"output {replaced} would overwrite {option} {file}"])
        for option, file, out, replaced in (
            ("--vocabulary", "counts.txt", "counts.npy", "counts.txt"),
            ("--vocabulary", "counts.txt", "counts.txt", "counts.txt"),
            ("--init", "start.txt", "start.npy", "start.txt"),
            ("--continue", "model", "model/part.bin", "model/part.bin"),
            ("--config", "settings.txt", "settings.npy", "settings.txt"),
        )
    ),
    (["vocabulary", "missing", "-o", "folder.arrow", "--force"], 1, ["folder.arrow is a folder"]),
    (["phrases", "sample", "-o", "folder.arrow", "--force"], 1, ["folder.arrow is a folder"]),
    (["evaluate", "missing", "--report", "folder.arrow", "--force"], 1, ["folder.arrow is a folder"]),
    (["vocabulary", "text.txt", "-o", "v.csv"], 1, [".arrow", ".txt", "v.csv"]),
    (["vocabulary", "text.txt", "-o", "v.txt", "--documents", "blocks"], 2, ["--min-documents"]),
    ([*TRAIN, "--validation", ".1", "--stop-similarity", "wordsim353"], 2, ["--stop-similarity"]),
    ([*TRAIN, "--validation", "missing.txt"], 1, ["missing.txt"]),
    ([*TRAIN, "--cluster", "nowhere"], 2, ["local:N"]),
    ([*CLASSIFIER[:-1], "x.ftz"], 2, ["quantize"]),
    (["cache", "--limit", "much"], 2, ["'much'"]),
    (["info", "none"], 1, ["none does not exist"]),
    (["info", "text.txt", "--methods"], 2, ["is: text"]),
    (["info", "model", "--methods", "--json"], 2, ["--methods cannot be combined with --json"]),
    (["concordance", "text.txt", "kin"], 1, ["'kin'", "king", "corpus"]),
    ([*EVALUATE[:1], "model", "--similarity", "same.tsv", "--unknown", "learned"], 2, ["unknown_rows"]),
    ([*EVALUATE, "--clustering", "labels.txt", "--unknown", "learned"], 2, ["--similarity"]),
    (["predict", "m.ftz", "latin.txt"], 1, ["--encoding-errors"]),
    ([*QUANTIZE[:-1], "labels.txt", "--force", "--retrain", "labels.txt"], 2, ["overwrite"]),
    ([*QUANTIZE[:-1], "new.npy"], 1, ["new.npy", "exists"]),
    (["infer", "missing", "text.txt", "-o", "new.npy", "--force"], 1, ["new.txt exists and does not belong to"]),
    (["infer", "documents", "text.txt", "-o", "text.txt", "--format", "npy", "--force"], 2, ["CORPUS"]),
    (["infer", "documents", "new.txt", "-o", "new.npy", "--force"], 2, ["CORPUS"]),
    (["train", "no-such", "text.txt", "-o", "x"], 2, ["trainer", "'no-such'", "cbow"]),
    (["train", "skipgram", "missing.txt", "-o", "x"], 1, ["missing.txt"]),
    (["train", "skipgram", "empty.txt", "-o", "x"], 1, ["no words", "empty.txt"]),
    (["train", "skipgram", "empty.txt", "-o", "v.bin"], 1, ["v.bin", "--force"]),  # noticed before the text is read
    (["train", "skipgram", "short.txt", "-o", "x", "--min-count", "1"], 1, ["nothing was learned", "2"]),
    (["train", "skipgram", "cut.gz", "-o", "x"], 1, ["cut.gz", "gzip"]),
    (["train", "skipgram", "latin.txt", "-o", "x"], 1, ["latin.txt", "UTF-8", "byte 3"]),
    (["train", "skipgram", "", "-o", "x"], 1, ["''"]),
    (["train", "skipgram", "text.txt", "-o", ""], 2, ["''"]),
    (["train", "skipgram", "text.txt", "-o", "-"], 2, ["standard output"]),
    (["train", "skipgram", "text.txt", "-o", "x.foo"], 2, ["x.foo"]),
    (["train", "skipgram", "text.txt", "-o", "there"], 1, ["there", "not replaced"]),
    (["train", "skipgram", "text.txt", "-o", "there", "--force"], 1, ["there"]),
    (["train", "skipgram", "text.txt", "-o", "no/where/x"], 1, ["not a folder"]),
    ([*TRAIN, "--fold", "simplified"], 2, ["--fold must be among accents", "OpenCC"]),
    (["train", "skipgram", "there/precious", "-o", "there", "--force"], 2, ["there would overwrite the corpus"]),
    ([*TRAIN, "--min-count", "999"], 1, ["'the'", "400"]),
    ([*TRAIN, "--dim", "0"], 2, ["dim", "1", "65536", "0"]),
    ([*TRAIN, "--rate", "nan"], 2, ["--learning-rate", "100", "nan"]),
    ([*TRAIN, "--threads", "0"], 2, ["--threads"]),
    ([*TRAIN, "--joiner", "+"], 2, ["joiner", "phrases"]),
    ([*TRAIN, "--freeze"], 2, ["--freeze requires --init"]),
    ([*TRAIN, "--init", "missing"], 1, ["missing"]),
    ([*TRAIN, "--init", "v.bin", "--dim", "7"], 2, ["7", "10"]),
    (["train", "cbow", "text.txt", "-o", "x", "--continue", "model"], 2, ["model is a skipgram", "train skipgram"]),
    ([*CONTINUE, "--vocabulary", "model"], 2, ["--continue", "--vocabulary"]),
    ([*CONTINUE, "--dim", "7"], 2, ["dim", "10", "7"]),
    ([*TRAIN, "--checkpoint-every", "never", "--resume"], 2, ["--resume", "checkpoints"]),
    ([*TRAIN, "--checkpoint-every", "often"], 2, ["'often'"]),
    ([*TRAIN, "--stop-patience", "3"], 2, ["early stopping"]),
    ([*TRAIN, "--stop-similarity", "missing"], 1, ["'missing'"]),
    ([*TRAIN, "--workers", "2"], 2, ["--workers requires --cluster", "--threads"]),
    ([*TRAIN, "--merge-every", "9"], 2, ["--merge-every requires"]),
    ([*TRAIN, "--runs", "2", "--log", "l"], 2, ["--runs cannot be combined with --log"]),
    ([*TRAIN[:-1], "x.bin", "--runs", "2"], 2, ["--out x.bin must be a folder"]),
    ([*TRAIN[:-1], "s3://bucket/group", "--runs", "2"], 1, ["s3://bucket/group"]),
    (["train", "classifier", "text.txt", "-o", "x"], 1, ["no text has a label"]),
    ([*CLASSIFIER[:-1], "stop.bin", "--stop-labels", "stop.bin", "--force"], 2, ["overwrite", "stop.bin"]),
    ([*CLASSIFIER, "--min-count", "1000"], 1, ["no word occurs at least 1000 times"]),
    ([*CLASSIFIER, "--tokenizer", "codepoints", "--min-count", "1"], 2, ["requires words without white space"]),
    (["train", "text-pairs", "ragged.tsv", "-o", "x"], 1, ["ragged.tsv, line 2", "3", "2"]),
    (["train", "text-pairs", "text.txt", "-o", "x"], 1, ["--pairs neighbours"]),
    (["train", "text-pairs", "same.tsv", "-o", "x", "--left-column", "1"], 2, ["--left-column and --right-column"]),
    (TUNE[:-2], 2, ["give the number of --trials"]),
    ([*TUNE, "--seconds", "3"], 2, ["cannot be combined"]),
    ([*TUNE[:4], "there", *TUNE[5:]], 1, ["there"]),
    ([*TUNED, "f1", "--labels", "labels.txt", "--size", "much"], 2, ["a size must be a number"]),
    ([*TUNED, "f1", "--labels", "missing.txt"], 1, ["missing.txt"]),
    (["neighbours", "missing", "king"], 1, ["missing does not exist"]),
    (["neighbours", "text.txt", "king"], 1, ["text.txt"]),
    (["neighbours", "other.bin", "king", "--index", "saved"], 2, ["saved", "other vectors"]),
    (["neighbours", "v.bin", "king", "--index", "v.bin"], 1, ["v.bin", "saved index"]),
    (["neighbours", "v.bin", "king", "--confidence", "runs", "--among", "v.bin"], 2, ["--among"]),
    (["neighbours", "v.bin", "king", "--confidence", "runs", "--restrict", "2"], 2, ["--restrict"]),
    (["analogy", "v.bin", "king", "queen", "dog", "--confidence", "runs", "--method", "3cosmul"], 2, ["--method"]),
    (["stability", "model", "missing.txt", "-o", "x", "--seeds", "1"], 2, ["seeds"]),
    (["neighbours", "v.bin", "king", "--allow-faiss"], 2, ["--allow-faiss requires --index"]),
    (["index", "lsh", "v.bin", "-o", "saved"], 1, ["saved", "exists", "--force"]),
    (["index", "tree", "v.bin", "-o", "x"], 2, ["'tree'", "no such file", "exact, faiss, lsh"]),
    (["index", "lsh", "v.bin", "-o", "v.bin", "--force"], 1, ["v.bin is not a saved index"]),
    (["index", "v.bin", "rows.jsonl", "-o", "docs.index"], 1, ["docs.index", "exists"]),
    (["index", "v.bin", "rows.jsonl", "-o", "x", "--id-column", "key"], 1, ["--id-column"]),
    (["index", "v.bin", "rows.jsonl", "-o", "x", "--kind", "lsh", "--dtype", "int8"], 2, ["--dtype", "lsh"]),
    (["search", "missing.index", "x"], 1, ["missing.index"]),
    (["search", "v.bin", "x"], 1, ["v.bin", "index of texts"]),
    (["search", "docs.index", "x", "--where", "y > 1"], 2, ["--where", "'y'"]),
    (["search", "docs.index", "x", "--queries", "rows.jsonl"], 2, ["--queries"]),
    ([*EVALUATE, "--clustering", "labels.txt", "--compose"], 2, ["--compose requires --similarity"]),
    ([*EVALUATE, "--report", "there"], 1, ["there"]),
    ([*EVALUATE, "--labels", "labels.txt"], 2, ["not a classifier"]),
    (["evaluate", "random:10x5"], 1, ["random:10x5 does not exist"]),
    (["evaluate", "m.ftz", "--labels", "labels.txt", "--tagging", "t"], 2, ["--labels", "--tagging"]),
    (["evaluate", "m.ftz", "-k", "2"], 2, ["--top requires --labels"]),
    (["evaluate", "m.ftz", "--metric", "f1:a"], 2, ["--metric requires --labels"]),
    (["compare", "v.bin"], 2, ["two VECTORS"]),
    (["concordance", "text.txt", "king", "--window", "3"], 2, ["OTHER"]),
    (["explain", "model", "text.txt", "king", "queen", "--case", "keep"], 2, ["--case"]),
    ([*EXPLORE, "--groups", "0"], 2, ["--groups"]),
    ([*EXPLORE, "--groups", "101"], 2, ["--groups", "100"]),
    ([*EXPLORE, "--groups", "groups.tsv"], 2, ["--groups"]),
    ([*EXPLORE, "--confidence", "."], 1, ["embeddings stability"]),
    ([*EXPLORE, "--case", "keep"], 2, ["--case", "--corpus"]),
    ([*EXPLORE, "--documents", "--corpus", "text.txt"], 2, ["--documents", "--corpus"]),
    ([*EXPLORE, "--corpus", "missing.txt"], 1, ["missing.txt"]),
    ([*EXPLORE, "--texts", "."], 1, ["index of texts"]),
    ([*EXPLORE, "--allow-faiss"], 2, ["--texts"]),
    ([*EXPLORE, "--port", "70000"], 2, ["--port"]),
    ([*EXPLORE, "--map-words", "100001"], 2, ["--map-words"]),
    (["export", "missing", "x.what"], 1, ["'.what'"]),
    (["export", "v.bin", "x.txt", "--retrofit", "missing"], 1, ["missing"]),
    (["export", "v.bin", "x.txt", "--table", "output"], 2, ["model"]),
    (["export", "v.bin", "x.bin", "--words", "0"], 2, ["0"]),
    (["export", "v.bin", "x.bin", "--counts"], 2, ["counts"]),
    (["export", "m.ftz", "new.npy", "--format", "fasttext"], 1, ["new.npy", "exists"]),
    (["embed", "v.bin", "text.txt", "-o", "x.txt"], 1, [".parquet"]),
    (["embed", "v.bin", "text.txt", "-output", "x.npy"], 2, ["-output"]),
    (["embed", "v.bin", "text.txt", "-o", "new.npy"], 1, ["new.npy", "exists"]),
    (["embed", "v.bin", "rows.jsonl", "-o", "rows.jsonl", "--text-column", "text", "--force"], 2, ["overwrite"]),
    (["embed", "documents", "text.txt", "-o", "x.npy"], 2, ["infer"]),
    (["predict", "v.bin", "a"], 2, ["not a classifier"]),
    (["predict", "m.ftz", "a", "--force"], 2, ["--force requires --out"]),
    (["predict", "m.ftz", "a b", "--text-column", "text"], 1, ["'a b'"]),
    (["predict", "m.ftz", "text.txt", "-o", "x.csv"], 1, ["extension", "x.csv"]),
    (["predict", "m.ftz", "text.txt", "-o", "text.txt", "--force"], 2, ["overwrite", "text.txt"]),
    (["predict", "m.ftz", "text.txt", "-o", "m.ftz", "--force"], 2, ["overwrite", "m.ftz"]),
    (["predict", "m.ftz", "text.txt", "-o", "new.txt"], 1, ["new.txt", "exists"]),
    (["predict", "m.ftz", "the where", "-k", "0"], 2, ["--top must be"]),
    (["quantize", "m.ftz", "-o", "m.ftz", "--force"], 2, ["overwrite"]),
    ([*QUANTIZE, "--epochs", "3"], 2, ["--epochs requires --retrain"]),
    ([*QUANTIZE, "--retrain", "labels.txt"], 2, ["--retrain requires --cutoff"]),
    ([*QUANTIZE, "--storage", "int8"], 2, ["--storage"]),
    (["quantize", "v.bin", "-o", "x", "--qnorm"], 2, ["--qnorm"]),
    (["align", "v.bin", "other.bin", "-o", "v.bin", "--force"], 2, ["VECTORS"]),
    (["align", "v.bin", "other.bin", "-o", "x.unknown"], 1, ["x.unknown"]),
    ([*FIT[:-1], "x.bin"], 2, ["--out x.bin"]),
    ([*FIT, "--joiner", "+"], 1, ["got 0", "--min-phrases"]),
    (["compose", "v.bin", "king", "unheard", "--function", "additive"], 1, ["'unheard'"]),
    (["compose", "v.bin", "king", "queen", "--function", "tensor-indexing"], 2, ["additive, multiplicative, own"]),
    ([*INDUCE, "--method", "mean", "--ridge", "1"], 2, ["--ridge"]),
    ([*INDUCE[:3], "blank.txt", *INDUCE[4:]], 1, ["blank.txt"]),
    ([*INDUCE[:3], "new.txt", "-o", "new.npy", "--force"], 2, ["WORDS new.txt"]),
    (["infer", "model", "text.txt", "-o", "x.npy"], 2, ["skipgram"]),
    (["stability", "classifier", "labels.txt", "-o", "x"], 2, ["classifier"]),
    (["phrases", "text.txt", "-o", "text.txt", "--force"], 2, ["output text.txt", "corpus text.txt"]),
    (["phrases", "text.txt", "--threshold", "-2"], 2, ["threshold", "-2.0"]),
    ([*FIT, "--phrase-list", "nowhere.tsv"], 1, ["nowhere.tsv"]),
    (["shift", "text.txt"], 2, ["--groups"]),
    (["shift", "text.txt", "--split-at", "3"], 2, ["--tag-column"]),
    (["shift", "text.txt", "words.txt", "--groups", "a,b"], 2, ["two corpora"]),
    ([*SHIFT, "--groups", "old,older", "--tag-column", "period"], 1, ["'older'", "new", "old"]),
    ([SHIFT[0], "untagged.jsonl", *SHIFT[2:], "--tag-column", "period", "--split-at", "3"], 1, ["document has a tag"]),
    (["warm", "nonsense"], 2, ["'nonsense'"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refusals")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    (folder / "latin.txt").write_bytes(b"caf\xe9 au lait")
    (folder / "cut.gz").write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:3000])
    (folder / "m.ftz").write_bytes(supervised_model(quantised=True, pruned=11).data)
    words, rows = ["king", "queen", "dog", "cat"], np.random.default_rng(1).standard_normal((4, 10))
    em.Vectors(words, rows).save(folder / "v.bin")
    em.Vectors(["w1", "w2", "w3", "w4"], rows[::-1]).save(folder / "other.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        expect("train", "skipgram", "text.txt", "-o", "model", *SMALL)
        (folder / "model" / "part.bin").touch()
        expect("train", "classifier", "labels.txt", "-o", "classifier", "--dim", "2", "--epochs", "1")
        expect("train", "paragraph-dbow", "text.txt", "-o", "documents", *SMALL)
        expect("index", "lsh", "v.bin", "-o", "saved", "--bits", "64")
        expect("index", "v.bin", "rows.jsonl", "-o", "docs.index")
    return folder


def state(place):
    """Each file and folder, with its size and when it was written."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in place.rglob("*")}


@pytest.mark.parametrize(("args", "code", "facts"), BAD, ids=[" ".join(args) for args, _, _ in BAD])
def test_bad_input_gets_one_line_and_leaves_nothing(place, monkeypatch, args, code, facts):
    monkeypatch.chdir(place)
    before = state(place)
    message = refused(*args, code=code)
    assert all(fact in message for fact in facts), message
    assert state(place) == before
