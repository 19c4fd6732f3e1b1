"""The calculated time of clusters."""

import pytest
from studies.cluster_study import BANDWIDTH, THREADS, ClusterPlan


def test_times_follow_from_costs():
    costs = {"learn": 5e-7, "pack": 2e-7, "merge": 3e-7, "set": 5e-7, "bytes": 1000.0, "store": 6e-10}
    rows = [{"precision": "int16", "measure": name, "value": str(value)} for name, value in costs.items()]
    lines = [line.split("|")[2:-1] for line in ClusterPlan("cluster-plan", {}).table(rows).splitlines()[2:]]
    table = {(every.strip(), int(machines)): [*map(str.strip, values)] for every, machines, *values in lines}
    hours = 10**12 * 5e-7 / THREADS / 3600
    assert table["64 M", 1] == [f"{hours:.2f}", "1.0", "0%"]
    learning, changed = 256e6 * 5e-7 / THREADS, 2e6
    merging = changed * 1e-6 / THREADS + changed * 1000 * 6e-10 + 2 * changed * 15 / 16 * 1000 / BANDWIDTH
    expected = 16 * learning / (learning + merging)
    assert float(table["256 M", 16][1]) == pytest.approx(expected, abs=0.06)
    assert float(table["256 M", 16][0]) == pytest.approx(hours / expected, abs=0.006)
    assert table["256 M", 16][2] == f"{merging / (learning + merging):.0%}"
