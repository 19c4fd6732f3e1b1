"""Kills the workers of a cluster, and loses their objects, for tests."""

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


def lost_object(pool):
    """A reference to an object that was lost."""
    return pool.ray.remote(num_cpus=0, max_retries=0)(lose).remote()


def lose():
    """Fail as a task does that needs a lost object."""
    from ray.exceptions import ObjectLostError

    raise ObjectLostError("0" * 56, None, "")
