"""Our cells and scores give the numbers and gradients of PyTorch's own operations."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="requires PyTorch: pip install 'embeddings-toolkit[neural]'")


def test_spellings_with_the_same_beginning_share_nodes():
    from embeddings.plugins.neural.torch_network import Trie

    spellings = [[1, 2, 3], [1, 2], [1, 2, 3], [2, 2, 2], [1, 3, 3]]
    padded = np.array([(spelling * 3)[:3] for spelling in spellings])
    trie = Trie.of(padded, np.array([len(spelling) for spelling in spellings]))
    assert len(trie.parents) == len({tuple(one[:k]) for one in spellings for k in range(1, len(one) + 1)}) == 8
    for last, spelling in zip(trie.last, spellings, strict=True):
        read, row = [], last + 1
        while row:
            read.append(int(trie.characters[row - 1]))
            row = trie.parents[row - 1]
        assert read[::-1] == spelling


def test_states_in_a_trie_and_their_gradients_are_those_of_an_lstm():
    from embeddings.plugins.neural.torch_network import Trie, TrieStates

    torch.manual_seed(1)
    rng, size, dim = np.random.default_rng(1), 5, 3
    lengths = rng.integers(1, 7, 30)
    characters = rng.integers(0, 3, (30, 6))
    table = torch.randn(3, dim).requires_grad_()
    weights, recurrent = torch.randn(4 * size, dim).requires_grad_(), torch.randn(4 * size, size).requires_grad_()
    bias, goal = torch.randn(4 * size).requires_grad_(), torch.randn(30, size)
    trie = Trie.of(characters, lengths)
    assert len(trie.parents) < lengths.sum()
    gates = (table @ weights.T + bias)[torch.from_numpy(trie.characters)]
    states = TrieStates.apply(gates, recurrent, trie)[torch.from_numpy(trie.last)]
    start = torch.zeros(1, 30, size)
    parameters = (weights, recurrent, bias, torch.zeros(4 * size))
    read = table[torch.from_numpy(characters)]
    expected = torch.lstm(read, (start, start), parameters, True, 1, 0.0, True, False, True)[0]
    expected = expected[torch.arange(30), torch.from_numpy(lengths - 1)]
    torch.testing.assert_close(states, expected, rtol=1e-4, atol=1e-5)
    parts = table, weights, recurrent, bias
    ours = torch.autograd.grad((states * goal).sum(), parts)
    theirs = torch.autograd.grad((expected * goal).sum(), parts)
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-4, atol=1e-4)


def test_scores_of_samples_and_their_gradients_are_products():
    from embeddings.plugins.neural.torch_network import SampledScores

    torch.manual_seed(2)
    hidden, table = torch.randn(7, 5).requires_grad_(), torch.randn(4, 5).requires_grad_()
    places, goal = np.random.default_rng(2).integers(0, 4, (7, 3)), torch.randn(7, 3)
    scores = SampledScores.apply(hidden, table, places)
    expected = torch.einsum("nd,nkd->nk", hidden, table[torch.from_numpy(places)])
    torch.testing.assert_close(scores, expected)
    ours = torch.autograd.grad((scores * goal).sum(), (hidden, table))
    theirs = torch.autograd.grad((expected * goal).sum(), (hidden, table))
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other)


def test_distinct_ids():
    from embeddings.plugins.neural.torch_network import distinct

    ids = np.array([[5, 2, 5], [0, 2, 7]])
    used, places = distinct(ids, 8)
    assert used.tolist() == [0, 2, 5, 7]
    np.testing.assert_array_equal(used[places[ids]], ids)
