"""Data that other programs have divided into parts: folders of Spark, and Dask and Ray data sets."""

import os

import pyarrow as pa
import pytest
from pyarrow import parquet

import embeddings as em
from embeddings.errors import CorpusError

TEXTS = [f"the cat number {number} sat" for number in range(40)]


def tokens(corpus):
    with corpus.encode() as encoded:
        return encoded.meta["tokens"], encoded.meta["types"]


def test_a_folder_that_spark_wrote_is_the_table_of_its_parts(tmp_path):
    folder = tmp_path / "texts.parquet"
    for number, language in enumerate(["en", "en", "de"]):
        part = folder / f"lang={language}" / f"part-0000{number}-6fc1c0de.c000.snappy.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"text": TEXTS, "n": range(40)}), part, compression="snappy")
        (part.parent / f".{part.name}.crc").write_bytes(b"crc\0")
    (folder / "_SUCCESS").touch()
    (folder / "_committed_17").write_text("{}")
    (folder / "_temporary" / "0").mkdir(parents=True)
    (folder / "_temporary" / "0" / "part-9.parquet").write_bytes(b"unfinished")
    corpus = em.Corpus(folder, text_column="text")
    assert len(corpus.sources) == 3
    assert tokens(corpus)[0] == 3 * 200


def test_folders_of_other_names_that_begin_with_a_line_are_read(tmp_path):
    (tmp_path / "_notes.txt").write_text("one two")
    assert tokens(em.Corpus(tmp_path)) == (2, 2)


@pytest.fixture
def dask():
    dask = pytest.importorskip("dask", reason="needs dask: pip install 'dask[dataframe]'")
    with dask.config.set(scheduler="synchronous"):
        yield dask


def test_a_data_frame_of_dask_is_read_partition_by_partition(dask):
    frames = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")
    pandas = pytest.importorskip("pandas")
    frame = frames.from_pandas(pandas.DataFrame({"text": TEXTS, "n": range(40)}), npartitions=4)
    assert tokens(em.Corpus(frame, text_column="text")) == tokens(em.Corpus(TEXTS))


@pytest.mark.filterwarnings("ignore")  # of ray itself
@pytest.mark.slow
def test_a_data_set_of_ray_is_read_in_batches():
    ray = pytest.importorskip("ray", reason="needs ray: pip install 'ray[data]'")
    pytest.importorskip("ray.data", reason="needs ray: pip install 'ray[data]'")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(num_cpus=1, include_dashboard=False, configure_logging=False, log_to_driver=False)
    try:
        data = ray.data.from_items([{"text": text, "n": number} for number, text in enumerate(TEXTS)])
        assert tokens(em.Corpus(data, text_column="text")) == tokens(em.Corpus(TEXTS))
        with pytest.raises(CorpusError, match="no column 'none'"):
            em.Corpus(data, text_column="none").encode()
    finally:
        ray.shutdown()
