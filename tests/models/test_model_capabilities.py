"""What a trainer says that its models can do."""

import numpy as np
import pytest
from subword_models import fasttext_model

from embeddings.models.model import Capabilities
from embeddings.models.subword_composer import composer
from embeddings.testing.trainer_contract import check_composing


def test_contract_requires_the_composer_of_the_trainer():
    class Composing(Capabilities):
        composer = staticmethod(composer)

    class Forgetful(Capabilities):
        pass

    check_composing(Composing, fasttext_model())
    with pytest.raises(AssertionError, match=r"Forgetful.*composer"):
        check_composing(Forgetful, fasttext_model())
    twice = fasttext_model()
    twice.composer = lambda model: lambda texts: np.ones((1, 7))
    with pytest.raises(AssertionError, match="row for each text"):
        check_composing(Composing, twice)
