"""The tools of a benchmark, by the names, settings and descriptions that a user gives."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from embeddings.errors import SettingError
from embeddings.eval.benchmark.job import Job, ModelConfig
from embeddings.eval.benchmark.program import Program
from embeddings.eval.benchmark.tools import OURS, PEERS, Command, Note, Tool

PROGRAM_SUFFIX = ".toml"


def select_tools(names: Sequence[str], configs: Sequence[ModelConfig]) -> list[Tool]:
    """Our tool, then these peers, or by default all installed peers that have one of the models.

    Arguments:
        names: a peer, the file of a program's description, or either with settings of its own, such as
            "gensim:learning_rate=0.05" or "glove.toml:window=15".
        configs: the models of the benchmark.

    Raises:
        SettingError: a peer is unknown, not installed or has none of the models, or two have one name.
        FormatError: a description cannot be read.
    """
    if not names:
        return [OURS, *(peer for peer in PEERS if peer.is_installed and any(map(peer.supports, configs)))]
    tools = [select_tool(name, configs) for name in dict.fromkeys(names)]
    for number, tool in enumerate(tools):
        if tool.name in (OURS.name, *(other.name for other in tools[:number])):
            raise SettingError(f"two tools are called {tool.name!r}; change the name in one description")
    return [OURS, *tools]


def select_tool(text: str, configs: Sequence[ModelConfig]) -> Tool:
    """A peer by its name or description, with settings of its own after a colon."""
    name, colon, own = text.partition(PROGRAM_SUFFIX + ":") if PROGRAM_SUFFIX in text else text.partition(":")
    tool = find_tool(name + PROGRAM_SUFFIX * bool(colon) if PROGRAM_SUFFIX in text else name)
    models = [config for config in configs if tool.supports(config)]
    if not models:
        wanted = ", ".join(dict.fromkeys(config.trainer for config in configs))
        raise SettingError(f"{tool.name} does not support {wanted}; it supports {', '.join(tool.trainers or ())}")
    if own:
        tool = with_settings(tool, own, {config.trainer: parse_settings(text, own, config) for config in models})
    for config in models:
        job = Job(config, 1, "text", "out")
        tool.whole(job)  # reports names without a value
        if tool.program is not None:
            tool.program.saved_vectors(job)
    return tool


def find_tool(name: str) -> Tool:
    """A peer by its name, or by the file of its description."""
    if name.endswith(PROGRAM_SUFFIX):
        tool = describe_program(Program.read(name))
        remedy = f"install it, or correct the command in {name}"
    else:
        peers = {peer.name: peer for peer in PEERS}
        if name not in peers:
            raise SettingError(f"peer must be one of {', '.join(peers)}, or a file that ends in .toml, got {name!r}")
        tool, remedy = peers[name], peers[name].remedy
    if not tool.is_installed:
        what = tool.program.command[0] if tool.program is not None else tool.name
        raise SettingError(f"{what} is not installed: {remedy}")
    return tool


def describe_program(program: Program) -> Tool:
    """The tool that a description describes."""
    from embeddings import registry

    for trainer in program.trainers:
        registry.load("trainer", trainer)  # refuses an unknown one
    return Tool(
        program.name,
        module="",
        trainers=tuple(program.trainers),
        whole=program.call,
        objectives=tuple(program.objectives),
        notes=tuple(Note(text) for text in program.notes),
        program=program,
    )


def parse_settings(label: str, text: str, config: ModelConfig) -> dict[str, Any]:
    """Settings "name=value,name=value" that the trainer of a configuration accepts."""
    from embeddings import registry
    from embeddings.indexes.index_spec import parse_spec

    trainer, own = parse_spec(f"{config.trainer}:{text}", label, group="trainer")
    if "epochs" in own:
        raise SettingError(f"{label!r}: epochs must be the same for all tools; set --epochs")
    registry.create("trainer", trainer, {**config.settings, **own})
    return own


def with_settings(tool: Tool, text: str, settings: Mapping[str, Mapping[str, Any]]) -> Tool:
    """A tool that runs with settings of its own, by trainer, instead of those of the benchmark."""

    def replaced(command: Command) -> Command:
        return lambda job: command(replace(job, config=with_own(job.config)))

    def with_own(config: ModelConfig) -> ModelConfig:
        return replace(config, settings={**config.settings, **settings[config.trainer]})

    return replace(
        tool,
        name=f"{tool.name}:{text}",
        whole=replaced(tool.whole),
        training=replaced(tool.training) if tool.training else None,
        notes=(*tool.notes, Note(f"{tool.name}:{text} has these settings instead of those of the table.")),
    )
