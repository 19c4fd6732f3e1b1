"""Several nodes of Ray on this machine."""

import secrets

import pytest
from interrupted_runs import corpus, learn, table_bytes

import embeddings as em

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
FOUR = em.training.Replicas(4, merge_every=4000)


def test_nodes_do_not_change_the_result(monkeypatch):
    ray = pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")
    from ray._private.authentication_test_utils import reset_auth_token_state
    from ray.cluster_utils import Cluster

    one_machine = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=FOUR)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")  # else anyone who reaches this machine could run code
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    reset_auth_token_state()
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 4, "include_dashboard": False})
    try:
        for _ in range(2):
            nodes.add_node(num_cpus=1)
        ray.init(address=nodes.address, log_to_driver=False)
        model = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=FOUR, cluster=em.training.Cluster("auto"))
        assert model.record["cluster"]["workers"] == 3
        assert table_bytes(model) == table_bytes(one_machine)
        one_worker = em.training.Cluster("auto", workers=1, threads_per_worker=4)  # more than there are cores, perhaps
        model = learn("skipgram", corpus("skipgram"), {"epochs": 3}, replicas=FOUR, cluster=one_worker)
        assert model.record["cluster"]["workers"] == 1
        assert table_bytes(model) == table_bytes(one_machine)
    finally:
        ray.shutdown()
        nodes.shutdown()
        monkeypatch.undo()
        reset_auth_token_state()
