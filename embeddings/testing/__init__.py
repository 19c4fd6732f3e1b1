"""Contract tests for plugin authors: `check_trainer` for trainers and `check_index` for indexes.

from embeddings.testing import check_trainer

def test_contract():
    check_trainer(MyTrainer)
"""

from embeddings.testing.index_contract import check_index as check_index
from embeddings.testing.trainer_contract import check_trainer as check_trainer

__all__ = ["check_index", "check_trainer"]
