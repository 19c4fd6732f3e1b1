"""Kills the workers of a cluster, for tests."""

import os
import signal

from embeddings.cluster.worker_pool import WorkerPool


def kill(pool, number):
    """End the process of a worker at once."""
    os.kill(pool.ray.get(pool.actors[number].process.remote()), signal.SIGKILL)


def kill_before(monkeypatch, method, when):
    """Kill workers before some calls of a method of the pool: `when` has their numbers by call."""
    original, calls = getattr(WorkerPool, method), iter(range(1000))

    def call(pool, *arguments):
        for number in when.get(next(calls), ()):
            kill(pool, number)
        return original(pool, *arguments)

    monkeypatch.setattr(WorkerPool, method, call)
