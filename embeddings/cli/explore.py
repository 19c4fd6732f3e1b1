"""`embeddings explore`: look at vectors in a browser: search, compare, map."""

import os
import sys
import webbrowser
from importlib.util import find_spec
from threading import Thread
from typing import Any

import click

from embeddings.cli import corpus_options, options
from embeddings.cli.command_help import command_by_example, shared
from embeddings.cli.explain import read_as_in_training
from embeddings.cli.options import CONFIDENCE, DOCUMENTS, QUIET, VECTOR_INPUT, from_signature, option, seed
from embeddings.cli.output import note
from embeddings.models.loading import load, load_model_or_vectors
from embeddings.support.imports import import_extra
from embeddings.vectors.index import load_index
from embeddings.vectors.vectors import as_vectors

MAX_MAP_WORDS, MAX_GROUPS = 100_000, 100
CORPUS_OPTIONS = [
    *corpus_options.options(omit=("encoding_errors",)),
    *corpus_options.PHRASE_OPTIONS,
]


@command_by_example(
    "explore model --corpus corpus.txt",
    params=[
        click.Argument(["vectors"]),
        option(
            "--corpus",
            "Show lines and contexts of this text, which should be the training text of VECTORS.",
            "CORPUS",
        ),
        CONFIDENCE,
        DOCUMENTS,
        option("--texts", "Also search the texts of this index, which `embeddings index` wrote.", "INDEX"),
        *from_signature(load_index, allow_faiss=None),
        *shared(
            "map_options",
            dict,
            option(
                "--map-words words",
                "Show the N most frequent words on the map.",
                (2, MAX_MAP_WORDS),
                default=10_000,
                metavar="N",
            ),
            option(
                "--projection",
                "How the map is arranged: by t-SNE, which requires the extra `explore`, or by principal components.  "
                "[default: tsne if installed]",
                ["tsne", "pca"],
            ),
            option(
                "--groups", "Colour this many clusters of words on the map.", (1, MAX_GROUPS), default=12, metavar="N"
            ),
            seed("Random seed of the map and of the clusters."),
        ),
        option("--port", "Port of the page.  [default: any that is free]", (1, 65_535), metavar="N"),
        option("--no-browser", "Print the address of the page without opening it.", bool),
        *CORPUS_OPTIONS,
        QUIET,
        *VECTOR_INPUT,
    ],
)
def command(
    *, vectors: str, corpus: str | None, confidence: str | None, documents: bool, texts: str | None,
    allow_faiss: bool, map_options: dict[str, Any], port: int | None, no_browser: bool, quiet: bool,
    reading: dict[str, Any], **settings: Any,
) -> None:  # fmt: skip
    """Open a page to look at VECTORS: neighbours as you type, analogies, comparisons of two words, and a map.

    Only this computer can open the page, and only with the address that is printed. Ctrl-C ends the command.
    """
    options.exclude("documents", "corpus", "confidence")
    for one in CORPUS_OPTIONS:
        options.require(str(one.name), "corpus")
    options.require("allow_faiss", "texts")
    if map_options["projection"] == "tsne":
        import_extra("openTSNE", "explore", "--projection tsne")
    map_options["projection"] = map_options["projection"] or ("tsne" if find_spec("openTSNE") else "pca")
    source = None if documents else load_model_or_vectors(vectors, **reading)
    explored = as_vectors(source) if source is not None else load(vectors, table="documents", **reading)
    text = None
    if corpus is not None and source is not None:
        text = read_as_in_training(corpus, source, settings, reading["errors"], quiet)[0]

    from embeddings.analysis.stability_runs import StabilityRuns  # these import a trainer, and scipy
    from embeddings.explorer.http_server import ExplorerServer
    from embeddings.explorer.vector_explorer import VectorExplorer
    from embeddings.explorer.word_map import WordMap
    from embeddings.text_search.text_index import TextIndex

    index = None if texts is None else TextIndex(texts, allow_faiss=allow_faiss)
    word_map = WordMap(explored, **map_options)
    explorer = VectorExplorer(
        explored, word_map, os.path.basename(os.path.abspath(vectors)), source=source, corpus=text,
        replicates=None if confidence is None else StabilityRuns.load(confidence), is_documents=documents,
        texts=index,
    )  # fmt: skip
    # the page opens at once and shows what is ready; the map of words may take a minute
    with ExplorerServer(explorer, port or 0) as server:
        Thread(target=explorer.prepare, name="prepare", daemon=True).start()
        click.echo(server.address)
        if not quiet:
            note("Ctrl-C ends")
        has_display = sys.platform in ("win32", "darwin") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        if not no_browser and has_display:  # without one, Python would start a browser in this terminal
            Thread(target=webbrowser.open, args=[server.address], name="browser", daemon=True).start()
        server.serve_forever(poll_interval=0.1)
