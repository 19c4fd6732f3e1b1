"""Runs a study: measures what its file of rows does not hold yet, then writes its table.

    python tools/study.py NAME [--out PATH] [--OPTION VALUE ...]
    python tools/study.py NAME --only-table [--out PATH]

PATH has no extension and is by default the one of the documentation, below eval/results. Rows go to PATH.tsv as soon as
they are measured, the machine and the versions of libraries to PATH.json, the table to PATH.md. An interrupted study
continues where it stopped; remove PATH.tsv to measure everything again. `NAME --help` describes a study. Measure times
on an otherwise idle machine.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from studies.grid import Study

from embeddings.errors import EmbeddingsError

STUDIES = {  # the class of each study
    "composition": "page_tables:Composition",
    "composition-curve": "page_tables:CompositionCurve",
    "distilled-students": "distilled_students:DistilledStudents",
    "evidence-times": "command_times:EvidenceTimes",
    "explorer-times": "command_times:ExplorerTimes",
    "first-runs": "command_times:FirstRuns",
    "language-examples": "page_tables:LanguageExamples",
    "loading": "library_speed:Loading",
    "pair-speed": "library_speed:PairSpeed",
    "readme": "page_tables:Readme",
    "reproduction": "reproduction:Reproduction",
    "retrieval": "retrieval_study:Retrieval",
    "text-vectors": "library_speed:TextVectors",
}


def find(name: str) -> type[Study]:
    """The class of a study."""
    module, _, kind = STUDIES[name].partition(":")
    return getattr(import_module(f"studies.{module}"), kind)


def options_of(name: str, kind: type[Study]) -> argparse.ArgumentParser:
    """The parser of the options of a study, which its defaults declare."""
    parser = argparse.ArgumentParser(
        f"study.py {name}", description=kind.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "eval" / "results" / kind.results)
    parser.add_argument("--only-table", action="store_true", help="write the table of the rows that are there")
    for option, default in kind.defaults.items():
        flag = "--" + option.replace("_", "-")
        if isinstance(default, list):
            parser.add_argument(flag, nargs="+", type=type(next(iter(default), "")), default=default)
        elif isinstance(default, type):
            parser.add_argument(flag, type=default)
        else:
            parser.add_argument(flag, type=str if default is None else type(default), default=default)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a study."""
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("name", metavar="NAME", choices=sorted(STUDIES), help=", ".join(STUDIES))
    first, *others = sys.argv[1:] if arguments is None else arguments or ["--help"]
    name = usage.parse_args([first]).name
    kind = find(name)
    parser = options_of(name, kind)
    options = vars(parser.parse_args(others))
    out, only_table = options.pop("out"), options.pop("only_table")
    missing = [one for one, default in kind.defaults.items() if isinstance(default, type) and options[one] is None]
    if missing and not only_table:
        parser.error(f"{name} requires {', '.join('--' + one.replace('_', '-') for one in missing)}")
    try:
        kind(name, options).make(out, only_table=only_table)
    except (EmbeddingsError, OSError) as error:
        parser.exit(1, f"Error: {error}\n")


if __name__ == "__main__":
    main()
