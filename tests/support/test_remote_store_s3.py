"""Corpora read from, and results written to, a server of the protocol of S3 on the loopback address."""

import gzip
import socket
from contextlib import suppress
from functools import partial

import pytest
from interrupted_runs import interrupted_checkpoints, learn, table_bytes
from remote_servers import KEY, SECRET, s3_environment, s3_server, web_server

import embeddings as em
from embeddings.errors import CorpusError, FormatError, OutputError, RemoteError
from embeddings.support.files import atomic_write, atomic_write_all
from embeddings.support.remote import requests, store, writing
from embeddings.support.remote.address import parse_address
from embeddings.testing.trainer_contract import synonym_corpus
from embeddings.training import checkpoints as checkpoints_module
from embeddings.training.run_log import RunLog
from embeddings.vectors import file_format

TEXT = b"".join(b"the cat number %d sat on the mat\n" % number for number in range(20_000))


@pytest.fixture(scope="module")
def server():
    with s3_server() as endpoint_and_client:
        yield endpoint_and_client


@pytest.fixture
def s3(server, monkeypatch, tmp_path, request):
    """A client of a server with an empty bucket of the name `bucket`."""
    endpoint, client = server
    for name, value in s3_environment(endpoint).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(store, "PART_SIZE", 1 << 17)
    client.create_bucket(Bucket="bucket")
    for name in names(client):
        client.delete_object(Bucket="bucket", Key=name)
    return client


def names(client, prefix=""):
    """The objects of the bucket; those that stand for folders are left out."""
    found = client.list_objects_v2(Bucket="bucket", Prefix=prefix).get("Contents", [])
    return [one["Key"] for one in found if not one["Key"].endswith("/")]


@pytest.fixture
def vectors():
    words = ["the", "cat", "käse", "a_b"]
    return em.Vectors(words, [[1.0, 0.5, 0.25, k] for k in range(4)], counts=[9, 5, 3, 1])


def test_files_folders_and_patterns_are_corpora(s3, tmp_path):
    (tmp_path / "a.txt").write_bytes(TEXT)
    local = em.Corpus(tmp_path / "a.txt").encode()
    for name in ("t/a.txt", "t/sub/b.txt", "t/.hidden", "t/_SUCCESS", "other/c.txt"):
        s3.put_object(Bucket="bucket", Key=name, Body=TEXT)
    s3.put_object(Bucket="bucket", Key="t/d.txt.gz", Body=gzip.compress(TEXT))
    assert em.Corpus("s3://bucket/t/a.txt").encode().ids.tobytes() == local.ids.tobytes()
    assert em.Corpus("s3://bucket/t/d.txt.gz").encode().ids.tobytes() == local.ids.tobytes()

    def found(address):
        return [source.name.removeprefix("s3://bucket/") for source in em.Corpus(address).sources]

    assert found("s3://bucket/t") == ["t/a.txt", "t/d.txt.gz", "t/sub/b.txt"]
    assert found("s3://bucket/t/") == ["t/a.txt", "t/d.txt.gz", "t/sub/b.txt"]
    assert found("s3://bucket/*/*.txt") == ["other/c.txt", "t/a.txt"]
    assert found("s3://bucket/**/*.txt") == ["other/c.txt", "t/a.txt", "t/sub/b.txt"]
    assert found("s3://bucket") == ["other/c.txt", "t/a.txt", "t/d.txt.gz", "t/sub/b.txt"]


def test_a_cached_corpus_follows_its_objects(s3):
    s3.put_object(Bucket="bucket", Key="a.txt", Body=b"one two\n" * 50)
    first = em.Corpus("s3://bucket/a.txt").encode()
    assert em.Corpus("s3://bucket/a.txt").encode().folder == first.folder
    s3.put_object(Bucket="bucket", Key="a.txt", Body=b"two one\n" * 50)  # of the same size, in the same second
    second = em.Corpus("s3://bucket/a.txt").encode()
    assert second.folder != first.folder


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("s3://bucket/none.txt", "does not exist"),
        ("s3://nobucket/x", "no bucket 'nobucket'"),
        ("s3://bucket/*.none", "matches no file"),
    ],
)
def test_what_is_missing_is_said(s3, address, expected):
    with pytest.raises(CorpusError, match=expected):
        em.Corpus(address)
    with pytest.raises(FormatError, match="does not exist"):
        em.load(f"{address}.bin")


def test_a_wrong_endpoint_is_one_clear_error(s3, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(CorpusError, match="refused") as error:
            em.Corpus("s3://bucket/a.txt")
    assert "\n" not in str(error.value)
    with web_server(is_silent=True) as silent, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", silent.url)
        patch.setenv("EMBEDDINGS_REMOTE_TIMEOUT", "1")
        patch.setattr(requests, "ATTEMPTS", 2)
        with pytest.raises(CorpusError, match="no answer in time"):
            em.Corpus("s3://bucket/b.txt")


@pytest.mark.parametrize("status", [403, 401])
def test_a_refusal_is_about_credentials_and_has_none(s3, monkeypatch, status):
    with web_server(status=status) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        with pytest.raises(CorpusError, match=r"permission|credentials") as error:
            em.Corpus("s3://bucket/a.txt")
    for text in (KEY, SECRET):
        assert text not in str(error.value)


def test_no_write_is_left_to_a_thread(s3, monkeypatch, vectors):
    """An interrupt does not wait for such threads, so they would go on writing after it."""
    run = requests.interruptible

    def check(action):
        before = names(s3)
        result = run(action)
        assert names(s3) == before
        return result

    monkeypatch.setattr(requests, "interruptible", check)
    for _ in range(2):  # a new file, and one that is replaced
        vectors.save("s3://bucket/v.txt", force=True)
    assert names(s3) == ["v.txt"]


def test_every_format_is_written_and_read(s3, vectors, tmp_path):
    for format, plugin in file_format.installed_formats().items():
        ending = f"{format}{plugin.extensions[0] if plugin.extensions else ''}"
        with suppress(em.EmbeddingsError, ModuleNotFoundError):  # a library is missing
            vectors.save(tmp_path / ending, format=format)
        if not (tmp_path / ending).exists():
            continue
        name = f"s3://bucket/out/{ending}"
        vectors.save(name, format=format)
        assert sorted(em.load(name, allow_pickle=True).words) == sorted(vectors.words)
        with pytest.raises(OutputError, match="exists"):
            vectors.save(name, format=format)
    assert len(names(s3, "out/")) > 12
    assert not [name for name in names(s3) if "partial" in name]


def test_a_model_is_written_read_and_replaced_only_if_asked(s3):
    s3.put_object(Bucket="bucket", Key="t.txt", Body=TEXT[:5000])
    model = em.train("skipgram", "s3://bucket/t.txt", dim=8, epochs=1, min_count=1, threads=1)
    model.save("s3://bucket/models/m")
    assert names(s3, "models/") == [
        f"models/m/{name}" for name in ("model.json", "tensors.safetensors", "vocabulary.arrow")
    ]
    again = em.load_model("s3://bucket/models/m")
    assert again.vectors.matrix.tobytes() == model.vectors.matrix.tobytes()
    assert em.Model.load("s3://bucket/models/m").vectors.words == model.vectors.words
    with pytest.raises(OutputError, match="exists"):
        model.save("s3://bucket/models/m")
    s3.put_object(Bucket="bucket", Key="models/m/foreign.txt", Body=b"mine")
    with pytest.raises(OutputError, match=r"foreign\.txt"):
        model.save("s3://bucket/models/m", force=True)
    s3.delete_object(Bucket="bucket", Key="models/m/foreign.txt")
    model.save("s3://bucket/models/m", force=True)
    with pytest.raises(OutputError, match="not a saved model"):
        model.save("s3://bucket/models", force=True)


def test_nothing_appears_when_writing_fails(s3, monkeypatch):
    def write(*addresses):
        with atomic_write_all([f"s3://bucket/{address}" for address in addresses]) as paths:
            for path in paths:
                path.write_bytes(b"x" * 100)
            assert "fails" not in addresses

    with pytest.raises(AssertionError):
        write("fails")
    assert names(s3) == []
    real = writing.upload

    def interrupted(path, address):
        if "second" in address.name:
            raise KeyboardInterrupt
        real(path, address)

    monkeypatch.setattr(writing, "upload", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write("first", "second")
    assert names(s3) == []


def test_an_object_that_appears_meanwhile_is_not_replaced(s3):
    writing = atomic_write("s3://bucket/x.bin")
    writing.__enter__().write_bytes(b"mine")
    s3.put_object(Bucket="bucket", Key="x.bin", Body=b"theirs")
    with pytest.raises(OutputError, match="exists"):
        writing.__exit__(None, None, None)
    assert s3.get_object(Bucket="bucket", Key="x.bin")["Body"].read() == b"theirs"
    assert names(s3) == ["x.bin"]


def test_credentials_are_in_no_file(s3, monkeypatch, tmp_path, vectors, caplog):
    caplog.set_level("DEBUG", logger="embeddings")
    s3.put_object(Bucket="bucket", Key="t.txt", Body=TEXT[:5000])
    address = "s3://bucket"
    corpus = em.Corpus(f"{address}/t.txt")
    log = tmp_path / "run.jsonl"
    options = {"callbacks": [RunLog(log)], "checkpoints": em.Checkpoints(tmp_path / "c", every="1kw")}
    model = em.train("skipgram", corpus, dim=8, epochs=2, min_count=1, threads=1, **options)
    model.save(tmp_path / "model")
    model.save(f"{address}/model")
    vectors.save(f"{address}/v.txt")
    assert em.load(f"{address}/v.txt").words == vectors.words
    with pytest.raises(OutputError) as error:
        vectors.save(f"{address}/v.txt")
    places = [path for path in tmp_path.rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() + str(path).encode() for path in places)
    content += b"".join(s3.get_object(Bucket="bucket", Key=name)["Body"].read() for name in names(s3))
    content += f"{corpus!r} {corpus.paths} {error.value} {caplog.text} {parse_address(address)!r}".encode()
    assert len(content) > 10_000
    assert not [text for text in (KEY, SECRET, *SECRET.split("/")) if text.encode() in content]


def test_an_interrupted_run_goes_on_from_checkpoints_in_the_store(s3, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints_module, "local_folder", lambda address: tmp_path / "one-machine")
    checkpoints = interrupted_checkpoints("s3://bucket/c", 20)
    assert len(checkpoints.paths()) == 1
    with pytest.raises(OutputError, match="s3://bucket/c holds checkpoints of an unfinished run"):
        learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints)
    monkeypatch.setattr(checkpoints_module, "local_folder", lambda address: tmp_path / "another-machine")
    resumed = learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, resume=True)
    assert table_bytes(resumed) == table_bytes(learn("skipgram", synonym_corpus(), {}))
    checkpoints.remove_all()
    assert names(s3) == []


UNSAFE = ["../../../../../../victim/secret", "../other", "./model.json", "a//b", "a/../../b"]
UNSAFE_LOCALLY = ["a\\..\\..\\b", "C:x"]


@pytest.fixture
def victim(s3):
    """Another bucket, to whose file a name that leaves its folder may lead."""
    s3.create_bucket(Bucket="victim")
    s3.put_object(Bucket="victim", Key="secret", Body=b"private")
    yield
    assert s3.get_object(Bucket="victim", Key="secret")["Body"].read() == b"private"
    s3.delete_object(Bucket="victim", Key="secret")
    s3.delete_bucket(Bucket="victim")


def files_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "is_signed"), [*((name, True) for name in [*UNSAFE, *UNSAFE_LOCALLY]), (UNSAFE[0], False)]
)
def test_folders_with_names_that_leave_them_are_refused(s3, victim, own_cache, monkeypatch, vectors, name, is_signed):
    if not is_signed:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_NO_SIGN_REQUEST", "1")
    folder = own_cache.parent
    pytest.importorskip("tokenizers")
    vectors.save(folder / "model", format="model2vec")
    for path in (folder / "model").iterdir():
        s3.put_object(Bucket="bucket", Key=f"mod/{path.name}", Body=path.read_bytes())
    (folder / "secret").write_bytes(b"mine")
    s3.put_object(Bucket="bucket", Key=f"mod/{name}", Body=b"theirs")
    before = files_below(folder)
    for read, error in ((em.load, FormatError), (em.load_model, FormatError), (em.Corpus, CorpusError)):
        if read is em.Corpus and name in UNSAFE_LOCALLY:  # it makes no local path of a name
            assert len(read("s3://bucket/mod").sources) == 6
            continue
        with pytest.raises(error, match=r"s3://bucket/mod .*not safe.*rename or remove") as caught:
            read("s3://bucket/mod")
        assert "\n" not in str(caught.value)
    with pytest.raises(OutputError, match=r"not safe|not replaced"):
        vectors.save("s3://bucket/mod", format="model2vec", force=True)
    assert files_below(folder) == before


def test_checkpoints_with_names_that_leave_their_folder_are_refused(s3, victim, tmp_path, monkeypatch):
    folder = tmp_path / "cache" / "checkpoints"
    folder.mkdir(parents=True)
    (folder.parent / "precious").write_text("mine")
    monkeypatch.setattr(checkpoints_module, "local_folder", lambda address: folder)
    name = "words-000000000000009"
    for key in ("checkpoint.json", "tensors.safetensors", "../../../victim/secret", "../../checkpoint.json"):
        s3.put_object(Bucket="bucket", Key=f"c/{name}/{key}", Body=b"{}")
    s3.put_object(Bucket="bucket", Key="c/../checkpoint.json", Body=b"{}")
    checkpoints = em.Checkpoints("s3://bucket/c", force=True)
    for options in ({"resume": True}, {}):
        with pytest.raises(OutputError, match=r"s3://bucket/c .*not safe"):
            learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints, **options)
    with pytest.raises(RemoteError, match="not safe"):
        checkpoints.remove_all()
    assert (folder.parent / "precious").read_text() == "mine"


MINE = ("d/mine.txt", "d/sub/mine.txt", "d/aaa/checkpoint.json", "d/.keep", "d/.git/config")


@pytest.fixture
def mine(s3):
    """Objects of the user, which no output may remove."""
    for name in MINE:
        s3.put_object(Bucket="bucket", Key=name, Body=b"mine")
    yield s3
    assert {*MINE} <= {*names(s3)}


@pytest.mark.parametrize("options", [{}, {"force": True}])
def test_checkpoints_remove_no_other_objects(mine, tmp_path, monkeypatch, options):
    monkeypatch.setattr(checkpoints_module, "local_folder", lambda address: tmp_path / "c")
    mine.put_object(Bucket="bucket", Key="d/words-000000000000001/tensors.safetensors", Body=b"partial")
    checkpoints = em.Checkpoints("s3://bucket/d", **options)
    learn("skipgram", synonym_corpus(), {}, checkpoints=checkpoints)
    checkpoints.remove_all()
    assert sorted(names(mine)) == sorted(MINE)


def test_replaced_folders_keep_other_objects(mine, vectors):
    pytest.importorskip("tokenizers")
    model = em.train("skipgram", [["a", "b", "c"]] * 50, dim=4, min_count=1, epochs=1, threads=1)
    outputs = {
        "config.json": partial(vectors.save, format="model2vec"),
        "index.json": em.build_index(vectors, "lsh").save,
        "model.json": model.save,
    }
    for main_file, save in outputs.items():
        with pytest.raises(OutputError, match=r"s3://bucket/d .*not replaced"):
            save("s3://bucket/d", force=True)
        mine.put_object(Bucket="bucket", Key=f"d/{main_file}", Body=b"{}")
        with pytest.raises(OutputError, match=r"s3://bucket/d .*not replaced.*(mine|keep|git|aaa)"):
            save("s3://bucket/d", force=True)
        mine.delete_object(Bucket="bucket", Key=f"d/{main_file}")


def test_a_replaced_model_loses_files_that_the_new_one_lacks(s3):
    model = em.train("skipgram", [["a", "b", "c"]] * 50, dim=4, min_count=1, epochs=1, threads=1)
    model.save("s3://bucket/m")
    s3.put_object(Bucket="bucket", Key="m/documents.arrow", Body=b"of an older model")
    s3.put_object(Bucket="bucket", Key="m/.model.json.0123abcd.partial", Body=b"of an interrupted upload")
    model.save("s3://bucket/m", force=True)
    assert names(s3, "m/") == ["m/model.json", "m/tensors.safetensors", "m/vocabulary.arrow"]


@pytest.mark.parametrize("address", ["s3://bucket/a/../b.txt", "s3://bucket/..", "s3://bucket/a//b.txt"])
def test_outputs_with_unsafe_addresses_are_refused_before_the_work(s3, address):
    with pytest.raises(OutputError, match=r"s3://bucket/.* not safe"), atomic_write(address):
        pytest.fail("the block must not run")
