"""CPU cores: affinity and the quotas of control groups."""

import os

import pytest

from embeddings.support import system


def write_files(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/docker/1\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
        (
            {
                "proc/self/cgroup": "0::/slice/job\n",
                "sys/fs/cgroup/slice/cpu.max": "200000 100000\n",
                "sys/fs/cgroup/slice/job/cpu.max": "400000 100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/\n2:cpu,cpuacct:/job\n0::/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
            },
            2.5,
        ),
    ],
    ids=["no files", "v2 unlimited", "v2", "v2 of the container", "v2 enclosing", "v1"],
)
def test_quota_of_control_groups(tmp_path, files, quota):
    write_files(tmp_path, files)
    assert system.cpu_quota(tmp_path) == quota


@pytest.mark.parametrize(("quota", "threads"), [(None, 3), (0.5, 1), (1.5, 2), (8.0, 3)])
def test_threads_follow_affinity_and_quota(monkeypatch, quota, threads):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 9}, raising=False)
    monkeypatch.setattr(system, "cpu_quota", lambda: quota)
    assert system.available_threads() == threads


def test_threads_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.setattr(system, "cpu_quota", lambda: None)
    assert system.available_threads() == 1
