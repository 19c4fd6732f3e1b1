"""Runs a study: measures what its file of rows does not hold yet, then writes its table and picture.

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

from embeddings.errors import EmbeddingsError, SettingError

STUDIES = {  # the class of each study
    "buckets": "bucket_search:Buckets",
    "calls": "cost_study:Calls",
    "classifiers": "classifier_study:Classifiers",
    "cluster": "cluster_study:Cluster",
    "cluster-plan": "cluster_study:ClusterPlan",
    "composition": "page_tables:Composition",
    "composition-curve": "page_tables:CompositionCurve",
    "distillation": "distillation_study:Distillation",
    "evidence-coverage": "evidence_coverage:Coverage",
    "evidence-times": "command_times:EvidenceTimes",
    "explorer-times": "command_times:ExplorerTimes",
    "first-runs": "command_times:FirstRuns",
    "kernels": "kernel_roofline:Kernels",
    "language-examples": "page_tables:LanguageExamples",
    "loading": "library_speed:Loading",
    "many-cores": "thread_scaling:ManyCores",
    "neural": "neural_study:Neural",
    "objectives": "objective_study:Objectives",
    "pair-candidates": "text_pair_study:PairCandidates",
    "pair-curve": "text_pair_study:PairCurve",
    "pair-speed": "library_speed:PairSpeed",
    "reading": "reading_speed:Reading",
    "readme": "page_tables:Readme",
    "replicas": "replica_study:Replicas",
    "retrieval": "retrieval_study:Retrieval",
    "reproduction": "reproduction:Reproduction",
    "search": "search_speed:Search",
    "settings": "scored_models:Settings",
    "small-models": "small_model_study:SmallModels",
    "text-pairs": "text_pair_study:TextPairs",
    "text-vectors": "library_speed:TextVectors",
    "threads": "thread_scaling:Threads",
    "time-to-quality": "cost_study:TimeToQuality",
    "tokenizer-speed": "reading_speed:Tokenizers",
    "tokenizers": "scored_models:Tokenization",
    "unseen-words": "unseen_word_study:UnseenWords",
    "unsegmented": "scored_models:Unsegmented",
    "usage-groups": "usage_change_study:Groups",
    "usage-halves": "usage_change_study:RandomHalves",
    "widths": "cost_study:Widths",
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
        if isinstance(default, bool):
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, list | dict):
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
        for option in (one for one, default in kind.defaults.items() if default == {} and options[one]):
            if wrong := [value for value in options[option] if "=" not in value]:
                raise SettingError(f"expected NAME=FILE, got {wrong[0]!r}")
            options[option] = dict(value.split("=", 1) for value in options[option])
        kind(name, options).make(out, only_table=only_table)
    except (EmbeddingsError, OSError) as error:
        parser.exit(1, f"Error: {error}\n")


if __name__ == "__main__":
    main()
