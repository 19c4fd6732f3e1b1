"""Pages that are made when the site is built."""

import re
from types import SimpleNamespace

import site_pages


def page_at(path):
    """A page of the site, as far as the hook reads it."""
    return SimpleNamespace(file=SimpleNamespace(src_uri=path))


def test_each_listed_name_has_a_page_of_its_own():
    pages = site_pages.name_pages()
    listed = [name for names in site_pages.listed_names().values() for name in names]
    assert len(listed) > 50
    assert sorted(pages) == sorted(f"reference/python/{name}.md" for name in set(listed))
    assert all(text.count(":::") == 1 for text in pages.values())


def test_a_page_of_a_trainer_shows_its_settings_and_train():
    members = re.search(r"members: \[(.+)\]", site_pages.name_pages()["reference/python/SkipGram.md"])[1].split(", ")
    assert {"dim", "negatives", "train"} <= set(members)
    assert not {"plan", "trainer_name", "run"} & set(members)
    assert "members" not in site_pages.name_pages()["reference/python/Vectors.md"]


def test_each_command_of_a_group_has_a_page_of_its_own():
    pages, folder = site_pages.pages(), site_pages.FOLDER
    group, member = pages[f"{folder}/train.md"], pages[f"{folder}/train/skipgram.md"]
    assert "(train/skipgram.md)" in group
    assert "`--seed INTEGER`" in group
    assert "`--negatives INTEGER`" not in group
    assert "`--seed INTEGER`" not in member
    assert "`--negatives INTEGER`" in member
    assert "`--resume`" in pages[f"{folder}/train/ppmi-svd.md"]  # as an option that it lacks
    config = SimpleNamespace(nav=[{"Command line": f"{folder}/"}])
    [navigation] = site_pages.on_config(config).nav
    groups = {title: paths for each in navigation["Command line"] for title, paths in each.items()}
    assert [title for title, paths in groups.items() if isinstance(paths, list)] == ["train", "tune", "index"]
    heads = [text.partition("\n")[0] for text in pages.values()]
    assert len(set(heads)) == len(pages)
    assert "# `embeddings index`" in heads
    assert groups["train"][0] == f"{folder}/train.md"
    assert f"{folder}/train/skipgram.md" in str(groups["train"])


def test_a_page_that_lists_names_becomes_an_index(root):
    path = "reference/trainers.md"
    text = site_pages.on_page_markdown((root / "docs" / path).read_text(encoding="utf-8"), page=page_at(path))
    assert ":::" not in text
    links = re.findall(r"^\| \[`(.+)`\]\(python/(.+)\.md\) \| \S.+ \|$", text, re.MULTILINE)
    assert links == [(f"em.{name}", name) for name in site_pages.listed_names()[path]]


def test_the_site_has_the_pictures_that_its_pages_show(root):
    found = site_pages.pictures()
    assert {"neighbours.svg", "kernels/roofline.png", "distillation/results.png"} <= set(found)
    assert all((root / "eval" / "results" / name).is_file() for name in found)


def test_commands_break_at_spaces_only():
    code = '<a id="c-0-1" name="c-0-1"></a><b>train</b>--min-count 5\na-b\nhttps://a-long-address.org/that/may/break'
    html = site_pages.on_page_content(f'<div class="language-sh">{code}</div><i>--c-d</i><code>train --e-f</code>')
    word = '<span class="word">{}</span>'.format
    code = code.replace("--min-count", word("--min-count")).replace("\na-b", f"\n{word('a-b')}")
    expected = f'<div class="language-sh">{code}</div><i>--c-d</i><code>train {word("--e-f")}</code>'
    assert html == expected
