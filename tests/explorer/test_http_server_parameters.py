"""Parameters of requests to the server of `embeddings explore`."""

import json

import pytest


@pytest.mark.parametrize(
    "query",
    ["", "word=", "word=%20", "word=king&word=dog", "word=king&top=0", "word=king&top=101", "word=king&top=1e1",
     "word=king&top=-1", "word=king&top=%EF%BC%91", "word=king&other=1", "word=%ff%fe", "word=" + "x" * 1001,
     "word=king&" + "&".join(f"a{i}=1" for i in range(100))],
)  # fmt: skip
def test_wrong_parameters_are_refused(server, query):
    status, _, body = server.get(f"/api/neighbours?{query}", Authorization=f"Bearer {server.token}")
    assert status == 400
    assert json.loads(body)["error"]
