"""Tables that are rendered from records, worked by hand, and the examples of the guide."""

import pytest
from studies.page_tables import LANGUAGES, composition_tables, examples, with_table


def test_the_examples_are_current():
    page = LANGUAGES.read_text("utf-8")
    assert with_table(LANGUAGES, "examples", examples()) == page
    assert page.count("| `") >= 30


def test_a_table_is_replaced(tmp_path):
    (tmp_path / "page.md").write_text("a\n<!-- one -->\nold\n<!-- end of one -->\nb\n")
    page = with_table(tmp_path / "page.md", "one", "new\n")
    assert page == "a\n<!-- one -->\nnew\n<!-- end of one -->\nb\n"


HEAD = "vectors\tset\tsection\twords\tmeasure\tmethod\tvalue\tlow\thigh\tseen\ttotal\n"


def lines(model, section, method, measures, set="held-out"):
    return "".join(
        f"{model}\t{set}\t{section}\tall\t{name}\t{method}\t{value}\t\t\t9\t9\n" for name, value in measures.items()
    )


@pytest.fixture
def written(tmp_path):
    rows = [
        lines("a", "red", "additive", {"squared-error": 4, "mean-rank": 10, "median-rank": 2}),
        lines("b", "red", "additive", {"squared-error": 6, "mean-rank": 20, "median-rank": 3}),
        lines("a", "red", "tensor-additive", {"squared-error": 5, "mean-rank": 11, "median-rank": 2}),
        lines("b", "red", "tensor-additive", {"squared-error": 4, "mean-rank": 25, "median-rank": 2}),
        lines("a", "red", "additive", {"spearman": 0.5, "spearman-ratings": 0.9}, set="rated"),
        lines("a", "red", "tensor-additive", {"spearman": 0.6}, set="rated"),
        lines("b", "red", "tensor-additive", {"spearman": "none: no pairs"}, set="rated"),
        lines("a", "all", "tensor-additive", {"spearman": 0.6}, set="rated"),
        lines("a", "any", "tensor-additive", {"squared-error": 5}),
    ]
    path = tmp_path / "results.tsv"
    path.write_text(HEAD + "".join(rows))
    return path


def test_means_and_wins(written):
    first, second = composition_tables(written).strip().split("\n\n")
    assert first.splitlines()[2:] == [
        "| red | additive | 5.00 |  | 15.0 | 2.5 |  | 0.500 |",
        "| red | tensor-additive | 4.50 |  | 18.0 | 2.0 |  | 0.600 |",
        "| any | tensor-additive | 5.00 |  |  |  |  | 0.600 |",
    ]
    assert second.splitlines()[0] == (
        "| type | tensor-additive against | squared error | mean rank | reciprocal rank | ratings |"
    )
    assert second.splitlines()[2] == "| red | additive | better, in 1 of 2 | worse, in 0 of 2 |  | better, in 1 of 1 |"
