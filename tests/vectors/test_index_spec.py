"""Indexes specified in a line."""

import pytest

import embeddings as em
from embeddings.errors import RegistryError, SettingError
from embeddings.vectors.index import as_index, check_spec, parse_spec


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("exact", "exact", {}),
        ("lsh:bits=512,rerank=100", "lsh", {"bits": 512, "rerank": 100}),
        ("lsh:centre=false,rerank=none", "lsh", {"centre": False, "rerank": None}),
        ("faiss:factory=IVF256,PQ4x8,nprobe=8", "faiss", {"factory": "IVF256,PQ4x8", "nprobe": 8}),
    ],
)
def test_parse_spec(text, name, settings):
    assert parse_spec(text) == (name, settings)


INVALID = [
    ("nope", RegistryError, "'nope'.*exact.*lsh"),
    ("", RegistryError, "''"),
    ("lsh:512", SettingError, "'lsh:512'.*lsh:name=value,name=value"),
    ("lsh:bits=1,bits=2", SettingError, "bits twice"),
    ("lsh:bit=3", SettingError, "'bit'.*bits"),
    ("exact:bits=3", SettingError, "'bits'"),
    ("lsh:bits=many", SettingError, "bits.*'many'"),
    ("lsh:bits=0", SettingError, "bits.*0"),
    ("lsh:bits=32769", SettingError, "bits.*32768.*32769"),
    ("lsh:centre=maybe", SettingError, "centre.*'maybe'"),
]


@pytest.mark.parametrize(("text", "error", "message"), INVALID, ids=[text for text, _, _ in INVALID])
def test_invalid_specs(clusters, text, error, message):
    for check in (lambda: as_index(text, clusters), lambda: check_spec(text)):
        with pytest.raises(error, match=message) as error_info:
            check()
        assert "\n" not in str(error_info.value)


def test_build_index_takes_a_spec(clusters):
    index = em.build_index(clusters, "lsh:bits=64", rerank=20)
    assert (index.settings["bits"], index.settings["rerank"]) == (64, 20)
    assert index.search(clusters.matrix[:3], top=1).ids[:, 0].tolist() == [0, 1, 2]
