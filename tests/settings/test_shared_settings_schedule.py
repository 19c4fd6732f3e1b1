"""Settings of the learning rate schedule."""

import pytest

from embeddings.errors import SettingError
from embeddings.settings import Schedule


def test_the_minimum_learning_rate_is_at_most_the_learning_rate():
    with pytest.raises(SettingError, match=r"min_learning_rate=0\.06 requires learning_rate.*0\.05"):
        Schedule(min_learning_rate=0.06)
    assert Schedule(learning_rate=0.5, min_learning_rate=0.5).final_learning_rate == 0.5
    assert Schedule(min_learning_rate=0).final_learning_rate == 0
    assert Schedule(learning_rate=0.5).final_learning_rate == 0.00005
