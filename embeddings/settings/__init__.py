"""Trainer settings: what a setting is, and the settings that models share."""

from embeddings.settings.objective_choice import BATCH_WINDOWS, NegativeSampling, ObjectiveChoice, PairSampling
from embeddings.settings.schedule import LEARNING_RATE, RATE_RANGE, SCHEDULE, Schedule, ScheduleName
from embeddings.settings.setting_fields import (
    SearchRange,
    Settings,
    check_value,
    field_types,
    flag,
    option,
    split_optional,
    with_optional_fields,
)
from embeddings.settings.shared_settings import (
    ContextWindow,
    Dimension,
    DocumentChoice,
    DocumentFrequency,
    FixedWindow,
    InitialValues,
    UnknownWords,
    VocabularyChoice,
    VocabularySize,
    WeightTying,
)

__all__ = [
    "BATCH_WINDOWS",
    "LEARNING_RATE",
    "RATE_RANGE",
    "SCHEDULE",
    "ContextWindow",
    "Dimension",
    "DocumentChoice",
    "DocumentFrequency",
    "FixedWindow",
    "InitialValues",
    "NegativeSampling",
    "ObjectiveChoice",
    "PairSampling",
    "Schedule",
    "ScheduleName",
    "SearchRange",
    "Settings",
    "UnknownWords",
    "VocabularyChoice",
    "VocabularySize",
    "WeightTying",
    "check_value",
    "field_types",
    "flag",
    "option",
    "split_optional",
    "with_optional_fields",
]
