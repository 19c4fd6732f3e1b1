"""Functions that run on several threads: order, memory and errors."""

import threading
from itertools import count

import pytest
from platforms import needs_fork

from embeddings.support.threads import QUERIES_PER_THREAD, map_in_order, run_slices


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order_and_few_items_are_taken_ahead(threads):
    taken = []

    def items():
        for number in count():
            taken.append(number)
            yield number

    for expected, result in zip(range(100), map_in_order(lambda number: number**2, items(), threads), strict=False):
        assert result == expected**2
        assert len(taken) <= expected + threads + 2


@pytest.mark.parametrize(("items", "threads", "is_alone"), [(1, 4, True), (0, 4, True), (3, 1, True), (2, 4, False)])
def test_a_single_item_is_not_worth_a_thread(items, threads, is_alone):
    used = set(map_in_order(lambda _: threading.get_ident(), range(items), threads))
    assert (used <= {threading.get_ident()}) == is_alone


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_function_reaches_the_caller(threads):
    results = map_in_order(lambda number: 1 / (number - 5), range(100), threads)
    assert [next(results) for _ in range(5)] == [-1 / 5, -1 / 4, -1 / 3, -1 / 2, -1]
    with pytest.raises(ZeroDivisionError):
        next(results)


@pytest.mark.parametrize(
    ("queries", "threads", "used"),
    [(0, 4, 1), (2 * QUERIES_PER_THREAD - 1, 4, 1), (2 * QUERIES_PER_THREAD, 4, 2), (1000, 3, 3), (1000, 1, 1)],
)
def test_slices_cover_all_queries_once(queries, threads, used):
    slices, names = [], set()

    def work(part):
        slices.append(part)
        names.add(threading.current_thread().name)

    run_slices(queries, work, threads)
    covered = [query for part in sorted(slices, key=lambda part: part.start) for query in range(queries)[part]]
    assert covered == list(range(queries))
    assert len(slices) == used
    assert (threading.current_thread().name in names) == (used == 1)


@needs_fork
def test_a_fork_of_a_process_that_trained_on_threads_trains_and_searches(python):
    """A fork has none of the threads of its parent, so that what waits for one would wait for ever."""
    code = """
import os, signal, sys
import embeddings as em
text = ["the king rules the land", "the dog eats the bone"] * 200
def learn():
    model = em.train("skipgram", text, dim=8, min_count=1, epochs=1, threads=2)
    return model.vectors.most_similar("king") and em.embed(model, text, threads=2).shape
expected = learn()
if os.fork() == 0:
    signal.alarm(300)
    os._exit(learn() != expected)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    python("-c", code)
