"""The CPU cores available to this process, the memory of the machine, and the size of files on disk."""

import functools
import math
import os
from contextlib import suppress
from pathlib import Path


def available_threads() -> int:
    """The number of CPU cores this process may use: its affinity, limited by the CPU quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cpu_quota()
    return cores if quota is None else max(1, min(cores, math.ceil(quota)))


@functools.cache
def cpu_quota(root: Path = Path("/")) -> float | None:
    """The CPU quota of this process's control group in cores (cgroup v1 or v2), None without one.

    Quotas of enclosing groups apply too, so the smallest counts.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return None
    quotas = []
    for line in groups:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # cgroup v2 has one tree without controllers in this line; v1 has a tree for each
        mount = root / "sys/fs/cgroup" / (controllers and "cpu")
        folder = mount / group.strip("/")
        # a container may see only its own part of the tree: folders above it that are missing have no quota
        quotas += [group_quota(place) for place in (folder, *folder.parents) if place.is_relative_to(mount)]
    return min((quota for quota in quotas if quota is not None), default=None)


def group_quota(folder: Path) -> float | None:
    """The quota set in the folder of one control group, in cores."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            quota, period = " ".join((folder / name).read_text() for name in names).split()
            return float(quota) / float(period) if float(quota) > 0 else None
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def total_memory() -> int | None:
    """The memory of the machine in bytes; None if unknown."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def free_memory(path: Path = Path("/proc/meminfo")) -> int | None:
    """The memory in bytes that programs can use without swapping; all memory of the machine if that is unknown."""
    try:
        values = dict(line.split(":") for line in path.read_text().splitlines())
        return int(values["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):  # not Linux
        return total_memory()


def size_on_disk(path: Path) -> int:
    """Return the size of a file, or of all files in a folder and its folders, in bytes.

    A file that another process removes in the meantime counts as empty.
    """
    walked = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    total = 0
    for file in walked if path.is_dir() else [path]:
        with suppress(OSError):
            total += file.stat().st_size
    return total
