"""`embeddings benchmark`: our trainers beside other tools."""

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import common, corpus_options
from embeddings.cli.click_options import options
from embeddings.cli.common import INTERRUPTED
from embeddings.errors import RegistryError, SettingError
from embeddings.settings import ContextWindow, Dimension, NegativeSampling, Schedule, VocabularyChoice, flag

if TYPE_CHECKING:
    from embeddings.corpora import EncodedCorpus
    from embeddings.eval.benchmark.result_rows import Row
    from embeddings.eval.benchmark.runner import Race

TRAINER = (
    "A model, or one with settings of its own, such as paragraph-dm:combine=concat,rate=0.025; may be repeated. Models "
    "of documents are compared apart from others."
)
RESUME = "Go on with the results in OUT: runs that stand there stay, those that are missing or failed are made."
JUDGES = {
    "similarity": "A further set of word similarity that judges the vectors, as in `evaluate`; may be repeated.",
    "analogy": "Further analogies; may be repeated.",
    "tagging": "Parts of speech, as in `evaluate`; may be repeated.",
}

CUT = ("tokenizer", "case")  # how text is cut


def taken(owner: type, *names: str) -> list[click.Option]:
    """Options made from settings that all trainers share."""
    return [option for option in options(owner) if option.name in names]


def several(owner: type, name: str) -> click.Option:
    """An option made from a setting, but one that may be repeated: each value makes shapes of its own."""
    (one,) = taken(owner, name)
    return click.Option(
        [flag(name), name],
        type=one.type,
        multiple=True,
        default=[one.default],
        show_default=True,
        help=f"{one.help} May be repeated.",
    )


def parameters() -> list[click.Parameter]:
    """The arguments of the command."""
    count, positive = click.IntRange(1, 1024), click.IntRange(min=1)
    models = ["skipgram", "cbow"]
    return [
        click.Argument(["corpus"], nargs=-1, required=True),
        click.Option(["-o", "--out"], default="benchmark", show_default=True, help="Folder for the results."),
        click.Option(["--trainer"], multiple=True, default=models, show_default=True, help=TRAINER),
        click.Option(["--text-column"], metavar="NAME", help="Column of a table that holds the text."),
        *(option for option in corpus_options.options() if option.name in CUT),
        click.Option(
            ["--label-column"],
            metavar="NAME",
            help="Models of documents are judged by the labels in this column: CORPUS is then TRAIN TEST and any "
            "others; all are learned, a classifier learns from TRAIN and is judged on TEST.",
        ),
        several(Dimension, "dim"),
        several(NegativeSampling, "negatives"),
        *taken(ContextWindow, "window"),
        *taken(VocabularyChoice, "sample", "min_count"),
        *taken(Schedule, "epochs"),
        click.Option(
            ["--threads"],
            type=count,
            multiple=True,
            help="Threads of each tool; may be repeated.  [default: all cores]",
        ),
        click.Option(
            ["--seeds"], type=positive, default=3, show_default=True, help="Runs of each tool, each with its own seed."
        ),
        click.Option(
            ["--peer"],
            multiple=True,
            help="gensim or fasttext; may be repeated.  [default: all that are installed and have the model]",
        ),
        *(click.Option([f"--{kind}"], multiple=True, metavar="SET", help=help) for kind, help in JUDGES.items()),
        click.Option(["--keep"], is_flag=True, help="Keep the vectors of each run, as OUT/vectors/*.bin."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print the table as JSON."),
        click.Option(["--force"], is_flag=True, help="Replace results that exist."),
        click.Option(["--resume"], is_flag=True, help=RESUME),
        click.Option(["--quiet"], is_flag=True, help="Say nothing but errors."),
    ]


def judged_by(**further: Any) -> list[str]:
    """Options of `embeddings evaluate`: the sets that always judge, and further ones, which must be there.

    Raises:
        FormatError: a set is missing or broken.
        SettingError: its name is unknown.
    """
    from embeddings.eval.suite import Suite

    if any(further.values()):
        Suite.read(**further)
    listed: dict[str, list[str]] = {
        "similarity": ["wordsim353", "simlex999"],
        "analogy": ["google-analogies"],
        "tagging": [],
    }
    return [word for kind, sets in listed.items() for name in (*sets, *further[kind]) for word in (f"--{kind}", name)]


def documents_by(corpus: tuple[str, ...], text_column: str | None, label_column: str | None) -> list[str] | None:
    """Options of `embeddings evaluate` for vectors that were learned for documents; None where they have no labels.

    Raises:
        UsageError: there are not two files.
        CorpusError: they cannot be read, or have no such columns.
    """
    if label_column is None:
        return None
    from embeddings.eval.suite import Suite

    if len(corpus) < 2:
        raise click.UsageError("--label-column needs two files at least, TRAIN and TEST")
    pair, columns = ",".join(corpus[:2]), {"text_column": text_column or "text", "label_column": label_column}
    Suite.read(documents=pair, trained=True, **columns)
    given = [word for name, value in columns.items() for word in (flag(name), value)]
    return ["--documents", pair, "--trained", *given]


def command_line(
    corpus: tuple[str, ...],
    out: str,
    trainer: tuple[str, ...],
    peer: tuple[str, ...],
    seeds: int,
    text_column: str | None,
    label_column: str | None,
    keep: bool,
    as_json: bool,
    force: bool,
    resume: bool,
    quiet: bool,
    **more: Any,
) -> None:
    """Train the same models on CORPUS with this package and with every peer that is installed, and compare.

    For each model, dim and number of negatives, the tools run in turn in fresh processes with the same settings.
    The folder gets results.csv (every run), results.md (the table, printed too), results.png and machine.json.
    """
    from embeddings.cli.progress_bar import Reading
    from embeddings.corpora import Corpus
    from embeddings.eval.benchmark.job import shapes
    from embeddings.eval.benchmark.result_table import summaries
    from embeddings.eval.benchmark.runner import Race
    from embeddings.eval.benchmark.tools import chosen

    if resume and force:
        raise click.UsageError("--resume keeps results that exist, --force replaces them")
    further, cut = ({name: more.pop(name) for name in names} for names in (JUDGES, CUT))
    try:
        asked = shapes(trainer, **more)
        tools = chosen(peer, asked)
    except (SettingError, RegistryError) as error:
        raise click.UsageError(str(error)) from error
    of_documents = asked[0].documents
    if any(further.values()) if of_documents else label_column:
        raise click.UsageError("models of documents are judged by --label-column, and others by sets of words")
    tests = documents_by(corpus, text_column, label_column) if of_documents else judged_by(**further)
    with Reading(quiet) as read:
        run: dict[str, Any] = {"repeats": seeds, "force": force, "resume": resume, "keep": keep, "tests": tests}
        race = Race(asked, tools, Path(out), **run, say=read.say)
        race.check()
        column = text_column or ("text" if label_column else None)
        encoded = Corpus(*corpus, text_column=column, **cut).encode(report=read)
    read.tell(encoded)
    rows = finished(race, encoded)
    if as_json:
        common.print_json([dataclasses.asdict(one) for one in summaries(rows)])
    else:
        click.echo((race.folder / "results.md").read_text(encoding="utf-8"), nl=False)
    read.say(f"results are in {race.folder}")


def finished(race: "Race", encoded: "EncodedCorpus") -> list["Row"]:
    """The rows of all runs; where the user interrupts, it is told what is kept, and the command ends."""
    from embeddings.eval.benchmark.runner import Interrupted

    try:
        return race.run(encoded)
    except Interrupted as stopped:
        kept = f"; the finished ones are in {race.folder / 'results.csv'}, --resume goes on" if stopped.finished else ""
        click.echo(f"interrupted after {stopped.finished} runs{kept}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


command = click.Command("benchmark", params=parameters(), callback=command_line, help=inspect.getdoc(command_line))
