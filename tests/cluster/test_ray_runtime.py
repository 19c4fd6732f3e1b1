"""The Ray of a run on this machine: nobody else can use it, and nothing of it is left."""

import gc
import os
import re
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

from embeddings.cluster.ray_runtime import check_running, connected

pytest.importorskip("ray", reason="requires ray: pip install 'embeddings-toolkit[cluster]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}  # as in /proc/net
STRANGER = """
import sys, warnings
warnings.simplefilter("ignore")
import ray
ray.init(address=sys.argv[1], log_to_driver=False)
print(ray.get(ray.remote(num_cpus=0)(lambda: 6 * 7).remote()))
"""


@contextmanager
def local_run():
    """The module ray and a worker, as in a run."""

    class Worker:
        def token(self):
            return os.environ.get("RAY_AUTH_TOKEN")

    with connected("local:1", 1) as ray:
        worker = ray.remote(Worker).remote()
        ray.get(worker.token.remote())
        yield ray, worker


@pytest.fixture(autouse=True)
def without_a_token(tmp_path):
    """No token of the user, not in the home folder either; afterwards Ray is as before, for other tests."""
    from ray._private.authentication_test_utils import reset_auth_token_state

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        for name in VARIABLES:
            patch.setenv(name, "")  # so that it is restored
            patch.delenv(name)
        yield
    reset_auth_token_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()  # processes of Ray, for which it does not wait


def private_folder(ray) -> Path:
    return Path(ray._private.worker._global_node.get_session_dir_path()).parents[1]


def certificate_variables(ray) -> dict[str, str]:
    """Variables for a process that has read the certificate; without one it would try to connect for minutes."""
    key, certificate = private_folder(ray) / "key.pem", str(private_folder(ray) / "certificate.pem")
    variables = dict.fromkeys(("RAY_TLS_SERVER_CERT", "RAY_TLS_CA_CERT"), certificate)
    return variables | {"RAY_USE_TLS": "1", "RAY_TLS_SERVER_KEY": str(key)} if key.exists() else {}


def descendants() -> list[Path]:
    """The folders in /proc of this process and the processes that it started, and these."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # ended
            continue
    found, size = {os.getpid()}, 0
    while size < len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return [Path("/proc", str(pid)) for pid in found]


def listening_addresses() -> set[str]:
    """The addresses in hexadecimal digits at which these processes listen for TCP connections."""
    links = [os.readlink(file) for process in descendants() for file in process.glob("fd/*") if os.path.lexists(file)]
    sockets = set(re.findall(r"socket:\[(\d+)\]", "\n".join(links)))
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


@pytest.mark.parametrize("mode", ["disabled", "token"])  # "token": Ray stores one in the home folder by default
def test_another_process_cannot_use_the_ray_of_a_run(mode):
    with local_run() as (ray, worker):
        environment = {"RAY_AUTH_MODE": mode, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"} | certificate_variables(ray)
        stranger = subprocess.run([sys.executable, "-c", STRANGER, ray.get_runtime_context().gcs_address],
                                  capture_output=True, text=True, env=os.environ | environment)  # fmt: skip
        assert stranger.stdout == ""
        assert "Failed to connect to Ray cluster" in stranger.stderr or "no authentication token" in stranger.stderr
        assert ray.get(worker.token.remote())


def test_a_certificate_without_the_token_is_not_enough():
    import grpc

    with local_run() as (ray, worker):
        key, certificate = ((private_folder(ray) / name).read_bytes() for name in ("key.pem", "certificate.pem"))
        credentials = grpc.ssl_channel_credentials(certificate, key, certificate)
        with grpc.secure_channel(ray.get_runtime_context().gcs_address, credentials) as channel:
            call = channel.unary_unary("/ray.rpc.InternalKVGcsService/InternalKVKeys")
            for token in ("", "0" * 64):
                with pytest.raises(grpc.RpcError) as error:
                    call(b"", metadata=[("authorization", f"Bearer {token}")])
                assert error.value.code() == grpc.StatusCode.UNAUTHENTICATED
            call(b"", metadata=[("authorization", f"Bearer {ray.get(worker.token.remote())}")])


@linux
def test_the_ray_of_a_run_listens_to_this_machine_only():
    with local_run():
        assert listening_addresses()
        assert listening_addresses() <= LOOPBACK


@linux
def test_the_token_of_a_run_is_in_no_argument_file_or_output(capfd):
    before = dict(os.environ)
    with local_run() as (ray, worker):
        token = ray.get(worker.token.remote())
        assert len(token) == 64
        assert token not in os.environ.values()
        processes = descendants()
        assert len(processes) > 4
        assert not any(token.encode() in (process / "cmdline").read_bytes() for process in processes)
        folder = private_folder(ray)
        assert folder.stat().st_mode & 0o77 == 0
        files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
        assert len(files) > 4
        assert not any(token.encode() in file.read_bytes() for file in files)
    assert not folder.exists()
    assert token not in "".join(capfd.readouterr())
    assert {name: os.environ.get(name) for name in VARIABLES} == {name: before.get(name) for name in VARIABLES}
    assert not Path.home().joinpath(".ray").exists()


def test_each_run_has_a_token_and_that_of_the_user_is_restored(monkeypatch):
    from ray._raylet import AuthenticationTokenLoader

    def get_header():
        return AuthenticationTokenLoader.instance().get_token_for_http_header()

    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "a token of the user")
    tokens = []
    for _ in range(2):
        with local_run() as (ray, worker):
            tokens.append(ray.get(worker.token.remote()))
        assert get_header() == {"authorization": "Bearer a token of the user"}
    assert len({*tokens, "a token of the user"}) == 3
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with local_run() as (ray, worker):
        assert ray.get(worker.token.remote()) not in {*tokens, None, "a token of the user"}
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
    assert os.environ["RAY_AUTH_TOKEN"] == "a token of the user"
    assert get_header() == {}


def test_another_process_cannot_end_a_run():
    """Without a certificate, which the server checks before the token, this call ends a server of Ray."""
    import grpc

    with local_run() as (ray, worker):
        node = ray._private.worker._global_node
        (raylet,) = ray.nodes()
        for address in (node.gcs_address, f"{raylet['NodeManagerAddress']}:{raylet['NodeManagerPort']}"):
            with grpc.insecure_channel(address) as channel:
                call = channel.stream_stream("/ray.rpc.syncer.RaySyncer/StartSync")
                with pytest.raises(grpc.RpcError):
                    list(call(iter([])))
        for kind in ("gcs_server", "raylet"):
            with pytest.raises(subprocess.TimeoutExpired):
                node.all_processes[kind][0].process.wait(2)
        check_running(ray)
        assert ray.get(worker.token.remote())
