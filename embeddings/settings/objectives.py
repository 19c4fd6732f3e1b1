"""Declarations of objectives: what a model compares its prediction with.

A kind of target (words, labels of texts, pairs of texts) has one `Objectives`. The choices of the setting `objective`,
their help, the refusal of settings without effect, and defaults that depend on the objective follow from it.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from embeddings.errors import S, SettingError
from embeddings.settings.setting_fields import Settings


@dataclass(frozen=True)
class ObjectiveDeclaration:
    """An objective that settings can choose.

    Arguments:
        name: the value of the setting `objective`.
        summary: a clause for the help.
        location: `module:class` of its implementation, which is imported when it is used.
        settings: the settings that it uses; objectives that do not name them refuse values other than the default.
        defaults: defaults of settings that depend on the objective.
        has_word_rows: whether each word has an output row as long as a hidden row.
        depends_on_counts: whether its tables depend on the counts of one text.
    """

    name: str
    summary: str
    location: str
    settings: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    has_word_rows: bool = True
    depends_on_counts: bool = False

    def implementation(self) -> Any:
        """The class that implements the objective."""
        module, _, name = self.location.partition(":")
        return getattr(import_module(module), name)


class Objectives(dict[str, ObjectiveDeclaration]):
    """The objectives of one kind of target, by name."""

    def __init__(self, *declarations: ObjectiveDeclaration) -> None:
        super().__init__({one.name: one for one in declarations})

    @property
    def choices(self) -> Any:
        """The type of the setting `objective`: a Literal of the names."""
        return Literal[tuple(self)]

    def help(self, question: str) -> str:
        """The help of the setting `objective`: a question, and the answer of each."""
        return f"{question} {'; '.join(f'{one.name}: {one.summary}' for one in self.values())}."

    def only(self, *names: str) -> "Objectives":
        """Some of the objectives."""
        return Objectives(*(self[name] for name in names))

    def users(self, setting: str) -> tuple[str, ...]:
        """The objectives that use a setting; none if it does not belong to objectives."""
        return tuple(one.name for one in self.values() if setting in one.settings)

    def defaults(self, setting: str) -> str:
        """The defaults of a setting by objective, for its help."""
        values: dict[Any, list[str]] = {}
        for one in self.values():
            if setting in one.defaults:
                values.setdefault(one.defaults[setting], []).append(one.name)
        return "; ".join(f"{value} with {', '.join(names)}" for value, names in values.items())

    def check(self, settings: Settings, objective: str) -> None:
        """Refuse settings of other objectives."""
        for one in dataclasses.fields(settings):
            value, users = getattr(settings, one.name), self.users(one.name)
            if users and objective not in users and value != one.default:
                reason = f"has no effect with {S.objective(objective)}: it requires {' or '.join(users)}"
                raise SettingError(f"{S[one.name](value)} {reason}")
