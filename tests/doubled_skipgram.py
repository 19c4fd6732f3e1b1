"""A trainer of another package, which no entry point registers."""

from dataclasses import dataclass, replace
from typing import Any

from embeddings.plugins.skipgram import SkipGram


@dataclass(frozen=True, kw_only=True)
class DoubledSkipGram(SkipGram):
    """Skip-gram with one more table, which nothing learns."""

    trainer_name = "doubled-skipgram"

    def plan(self, data: Any) -> Any:
        plan = super().plan(data)
        table = next(iter(plan.tables.values()))
        return replace(plan, tables={**plan.tables, "spare": replace(table, saved_as="spare")})
