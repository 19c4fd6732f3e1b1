"""The measurement of loading times on small files."""

from optional_libraries import import_gensim
from studies.loading_times import MEASURES, READERS
from study import main


def test_every_reader_reads_a_small_file(tmp_path):
    import_gensim()
    main(["loading", "--words", "50", "--dim", "4", "--rounds", "1", "--out", str(tmp_path / "loading")])
    about, _, heads, _, *lines = (tmp_path / "loading.md").read_text().splitlines()
    assert "50 vectors of 4 components" in about
    assert heads.strip("| ").split(" | ")[2:-1] == list(MEASURES)
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert [row[:2] for row in rows] == [
        [form, library] for form, libraries in READERS.items() for library in libraries
    ]
    assert all(float(value) >= 0 for row in rows for value in row[2:])
    assert {row[-1] for row in rows if row[1] == "embeddings"} == {"1.0"}
