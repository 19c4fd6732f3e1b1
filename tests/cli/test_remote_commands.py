"""Commands that read from and write to a server of the protocol of S3, in processes of their own where it matters."""

import json

import pytest
from commands import SMALL, TEXT, expect, process, refused
from remote_servers import KEY, SECRET, s3_environment, s3_server

TRAIN = ["train", "skipgram", "s3://data/text", "-o"]
LABELLED = "".join(
    f"__label__{'ab'[n % 2]} {'good fine' if n % 2 else 'bad poor'} text number {n % 7}\n" for n in range(200)
)


@pytest.fixture(scope="module")
def s3():
    """A client of a server with texts in the bucket `data`; the environment points to it."""
    with s3_server() as (endpoint, client), pytest.MonkeyPatch.context() as patch:
        for name, value in {**s3_environment(endpoint), "NO_PROXY": "127.0.0.1"}.items():
            patch.setenv(name, value)
        client.create_bucket(Bucket="data")
        for name, text in (("text/a.txt", TEXT), ("text/b.txt", TEXT), ("labels.txt", LABELLED)):
            client.put_object(Bucket="data", Key=name, Body=text.encode())
        client.put_object(Bucket="data", Key="pairs.tsv", Body=b"king\tqueen\t9\ndog\tcat\t8\nking\tbone\t1\n")
        yield client


@pytest.fixture(scope="module")
def trained(s3):
    """Train in a process of its own."""
    files = ["s3://data/text/*.txt", "-o", "s3://data/model"]
    return process("train", "skipgram", *files, *SMALL, "--min-count", "1", "--json")


def body(s3, name):
    return s3.get_object(Bucket="data", Key=name)["Body"].read()


def test_train_reads_and_writes_and_prints_no_credentials(s3, trained):
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["out"] == "s3://data/model"
    written = [one["Key"] for one in s3.list_objects_v2(Bucket="data")["Contents"] if "model" in one["Key"]]
    assert {"model/model.json", "model/tensors.safetensors", "model/vocabulary.arrow"} <= set(written)
    assert not [name for name in written if "partial" in name or "checkpoints/" in name.rstrip("/")]
    shown = trained.stdout + trained.stderr + b"".join(body(s3, name) for name in written).decode("latin-1")
    assert "s3://data/text/a.txt" in shown or "s3://data/model" in shown
    for secret in (KEY, SECRET, *SECRET.split("/")):
        assert secret not in shown


def test_commands_read_a_remote_model(s3, trained, tmp_path):
    model = "s3://data/model"
    assert "queen" in expect("neighbours", model, "king").stdout
    assert json.loads(expect("info", model, "--json").stdout)["what"] == "saved model"
    scores = expect("evaluate", model, "--similarity", "s3://data/pairs.tsv", "--json").stdout
    assert json.loads(scores)[0]["set"] == "pairs"
    assert "s3://data/out/v.txt" in expect("export", model, "s3://data/out/v.txt").stderr
    assert body(s3, "out/v.txt").split()[1] == b"10"
    assert "exists" in refused("export", model, "s3://data/out/v.txt", code=1)
    expect("export", model, "s3://data/out/v.txt", "--force")
    expect("embed", model, "s3://data/text/a.txt", "-o", "s3://data/out/texts.parquet")
    assert body(s3, "out/texts.parquet").startswith(b"PAR1")


def test_vocabulary_is_written_and_read(s3):
    expect("vocabulary", "s3://data/text", "-o", "s3://data/out/words.txt")
    assert b"the " in body(s3, "out/words.txt")
    out = "s3://data/out/by-vocabulary"
    expect("train", "skipgram", "s3://data/text", "--vocabulary", "s3://data/out/words.txt", "-o", out, *SMALL)


def test_a_classifier_predicts_remote_texts(s3, tmp_path):
    small = ["--dim", "8", "--epochs", "2", "--threads", "1", "--min-count", "1"]
    expect("train", "classifier", "s3://data/labels.txt", "-o", "s3://data/classifier", *small)
    expect("predict", "s3://data/classifier", "s3://data/labels.txt", "-o", "s3://data/out/labels.jsonl")
    assert len(body(s3, "out/labels.jsonl").splitlines()) == 200


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["neighbours", "s3://data/none", "king"], 1, "does not exist"),
        (["train", "skipgram", "s3://nobucket/a.txt", "-o", "x"], 1, "no bucket"),
        ([*TRAIN, "s3://nobucket/x"], 1, "no such bucket"),
        ([*TRAIN, "https://127.0.0.1/x"], 1, "web addresses"),
        ([*TRAIN, "s3://data/text/out"], 2, "s3://data/text/out would overwrite the corpus s3://data/text;"),
        ([*TRAIN, "x", "--log", "s3://data/log"], 1, "a log must be local"),
        (["tune", *TRAIN[1:], "s3://data/tuned", "--metric", "loss", "--trials", "1"], 1, "must be local"),
        (["info", "s3://key:secret/data"], 2, "must not contain a user or password"),
    ],
)
def test_errors_are_one_line(s3, arguments, code, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert expected in refused(*arguments, code=code)
    assert not list(tmp_path.iterdir())  # no local folder has the name of an address
