"""Connection to Ray, and messages for its errors."""

import logging
import os
import secrets
import socket
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from traceback import walk_tb
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from embeddings.cluster.cluster_task import AUTO, ClusterError
from embeddings.errors import EmbeddingsError
from embeddings.support.imports import import_extra
from embeddings.support.logs import notice

VALIDITY = timedelta(days=3650)
MAX_PARENT = 20  # characters of the folder of the private one: paths of sockets have at most 103 bytes
CONNECT_SECONDS = 10.0
CLIENT_PORT = 10001
POLL_SECONDS = 0.1
ADVICE = "if there are checkpoints, resume continues from the last one"
PROCESSES = ("raylet", "gcs_server")  # without which Ray cannot go on
ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


@contextmanager
def local_ray(ray: Any, **options: Any) -> Iterator[None]:
    """Run Ray on this machine at the loopback interface, with a new token, certificate and private folder.

    Processes of Ray inherit the token from the environment of this process, which has it only while they start.

    Raises:
        EmbeddingsError: cryptography is not installed.
    """
    raylet = ray._raylet

    def reload() -> None:
        """Let Ray read its cached settings and token again."""
        raylet.Config.initialize("")
        raylet.AuthenticationTokenLoader.instance().reset_cache()

    parent = gettempdir() if len(gettempdir()) <= MAX_PARENT or os.name != "posix" else "/tmp"
    parent = os.environ.get("RAY_TMPDIR") or parent
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="ray-", dir=parent, ignore_cleanup_errors=True))
        stack.callback(reload)
        stack.callback(ray.shutdown)
        with (
            patch.dict(os.environ, authentication_variables(Path(folder))),
            patch("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False),  # as on macOS: it listens at 127.0.0.1
        ):
            reload()
            ray.init(
                address="local",
                include_dashboard=False,
                _temp_dir=os.path.join(folder, "ray"),  # Ray lets others write into it, so it is not the private folder
                **options,
            )
        yield


def authentication_variables(folder: Path) -> dict[str, str]:
    """Environment variables of Ray with a random token, and a new key and certificate of servers and clients.

    Without a certificate, a call without a token can end a server of Ray.
    """
    x509 = import_extra("cryptography.x509", "cluster", "a local cluster")
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ray")])
    addresses = [x509.IPAddress(ip_address(address)) for address in ("127.0.0.1", "::1")]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - VALIDITY)
        .not_valid_after(now + VALIDITY)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .sign(key, SHA256())
    )
    key_file, certificate_file = folder / "key.pem", folder / "certificate.pem"
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    certificate_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_ENABLE_K8S_TOKEN_AUTH": "false",
        "RAY_USE_TLS": "1",
        "RAY_TLS_SERVER_KEY": str(key_file),
        "RAY_TLS_SERVER_CERT": str(certificate_file),
        "RAY_TLS_CA_CERT": str(certificate_file),
    }


@contextmanager
def connected(address: str, local_cpus: int | None = None) -> Iterator[Any]:
    """The module ray, connected to a cluster, or to a Ray of this run with `local_cpus` CPUs on this machine.

    Raises:
        EmbeddingsError: Ray is not installed.
        ClusterError: the cluster cannot be reached, or the connection to it is lost.
    """
    ray = import_extra("ray", "cluster", "training on a cluster")
    is_remote = local_cpus is None
    if ray.is_initialized():
        if not is_remote:
            raise ClusterError(f"this program is connected to Ray already; use cluster {AUTO!r}, not a local one")
        with lost_connection(address):
            yield ray
        return
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with ExitStack() as stack:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                notice(f"connecting to the cluster {address} ..." if is_remote else "starting Ray ...")
                start(ray, address, local_cpus, stack)
        except ClusterError:
            raise
        except Exception as error:  # of many types
            advice = "check that Ray runs there, and that its port is open"
            raise ClusterError(f"cannot reach the cluster {address}: {one_line(error)}; {advice}") from None
        with (
            patch("ray._private.worker.print_to_stdstream", create=True),  # standard output is for results
            lost_connection(address),
        ):
            yield ray


@contextmanager
def lost_connection(address: str) -> Iterator[None]:
    """Convert errors of Ray in this process, which are of many types if the cluster is gone, to a ClusterError."""
    try:
        yield
    except (EmbeddingsError, MemoryError):
        raise
    except Exception as error:
        modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
        if not any(module.split(".")[0] == "ray" for module in modules):
            raise
        raise ClusterError(f"the cluster {address} failed: {one_line(error)}; {ADVICE}") from error


def check_running(ray: Any) -> None:
    """Raise ClusterError if a process of the local Ray has ended, before Ray ends this process too."""
    node = getattr(ray._private.worker, "_global_node", None)
    ended = [kind for kind, _ in node.dead_processes() if kind in PROCESSES] if node is not None else []
    if ended:
        raise ClusterError(f"the process {ended[0]} of Ray on this machine has ended; {ADVICE}")


def wait_for(ray: Any, refs: list[Any]) -> list[Any]:
    """The references with results; waits at most a tenth of a second for all results."""
    done, _ = ray.wait(refs, num_returns=len(refs), timeout=POLL_SECONDS)
    check_running(ray)
    return list(done)


def start(ray: Any, address: str, local_cpus: int | None, stack: ExitStack) -> None:
    """Start Ray on this machine, or connect to a cluster, until the stack is closed."""
    options = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": "embeddings"}
    if local_cpus is not None:
        stack.enter_context(local_ray(ray, num_cpus=local_cpus, **options))
        return
    if address != AUTO:
        place = urlsplit(address)
        host = place.hostname or "", place.port or CLIENT_PORT
        socket.create_connection(host, timeout=CONNECT_SECONDS).close()  # Ray itself would wait for minutes
    try:
        ray.init(address=address, **options)
        stack.callback(ray.shutdown)
    except ConnectionError:
        hint = "start it with `ray start --head`, or give the address of its head" if address == AUTO else ""
        raise ClusterError(f"no Ray cluster is running that this machine belongs to; {hint}") from None


def one_line(error: BaseException) -> str:
    """The last line of an error message that is not blank."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or [type(error).__name__])[-1]


def explained(ray: Any, error: BaseException, who: str) -> EmbeddingsError:
    """The EmbeddingsError for an error that a worker raised."""
    cause = getattr(error, "cause", None)  # without the wrapping of Ray
    cause = cause if isinstance(cause, BaseException) else error
    if isinstance(cause, EmbeddingsError):
        return cause
    if isinstance(cause, ModuleNotFoundError):
        return ClusterError(f"{cause.name} is not installed on {who}; install the same packages on all machines")
    if isinstance(cause, ray.exceptions.OutOfDiskError) or (isinstance(cause, OSError) and cause.errno == 28):
        return ClusterError(f"the disk of {who} is full: free some space for Ray's object store and the cache folder")
    if isinstance(cause, ray.exceptions.RayError):  # the worker, its machine, or rows for it
        return ClusterError(f"{who} was lost: {one_line(cause):.200}; {ADVICE}")
    return ClusterError(f"{who} failed: {type(cause).__name__}: {one_line(cause)}")
