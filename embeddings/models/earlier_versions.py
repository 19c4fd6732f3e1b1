"""Translation of model.json of format version 1, written by version 0.1, to the current names of settings."""

from typing import Any

SETTINGS = {
    "rate": "learning_rate",
    "min_rate": "min_learning_rate",
    "sample": "subsample",
    "fewest": "min_phrases",
    "fit_rate": "fit_learning_rate",
}
REMOVED_SETTINGS = {"sample_side"}
VALUES: dict[tuple[str, str], str] = {("negative_sharing", "distant"): "batch", ("negative_sharing", "pair"): "none"}
RECORD = {"of_words": "total_words", "bundles": "steps"}


def translate_model_json(content: dict[str, Any]) -> dict[str, Any]:
    """The content of model.json with the current names; fields of unexpected types are left as they are."""
    record = content.get("record")
    if not isinstance(record, dict):
        return {**content, "settings": translate_settings(content.get("settings"))}
    record = {RECORD.get(name, name): value for name, value in record.items()}
    text, base = record.get("text"), record.get("base")
    if isinstance(text, dict) and isinstance(text.get("phrases"), dict):
        phrases = {"mode" if name == "words" else name: value for name, value in text["phrases"].items()}
        record["text"] = {**text, "phrases": phrases}
    if isinstance(base, dict):  # the model of words that a composition was fitted to
        record["base"] = {**base, "settings": translate_settings(base.get("settings"))}
    return {**content, "settings": translate_settings(content.get("settings")), "record": record}


def translate_settings(settings: Any) -> Any:
    """Settings of a trainer with the current names and values."""
    if not isinstance(settings, dict):
        return settings
    return {
        SETTINGS.get(str(name), str(name)): VALUES.get((str(name), str(value)), value)
        for name, value in settings.items()
        if name not in REMOVED_SETTINGS
    }
