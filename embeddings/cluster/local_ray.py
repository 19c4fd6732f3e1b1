"""A Ray on this machine that only the run that started it can use."""

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from unittest.mock import patch

from embeddings.cluster.cluster_options import ClusterError
from embeddings.support.extras import import_extra

VALIDITY = timedelta(days=3650)
MAX_PARENT = 20  # characters of the folder of the private one: paths of sockets have at most 103 bytes


@contextmanager
def local_ray(ray: Any, **options: Any) -> Iterator[None]:
    """Ray on this machine at the loopback interface, with a token, a certificate and a private folder of its own.

    Processes of Ray inherit the token from the environment of this process, which has it only while they start.

    Raises:
        EmbeddingsError: cryptography is not installed.
        ClusterError: Ray is too old to have tokens.
    """
    raylet = ray._raylet
    if not hasattr(raylet, "AuthenticationTokenLoader"):
        raise ClusterError(
            f"cluster local:N requires Ray 2.52 or newer, got {ray.__version__}: "
            "pip install --upgrade 'embeddings-toolkit[cluster]'"
        )

    def reload() -> None:
        """Let Ray, which caches both, read its settings and then the token again."""
        raylet.Config.initialize("")
        raylet.AuthenticationTokenLoader.instance().reset_cache()

    parent = gettempdir() if len(gettempdir()) <= MAX_PARENT or os.name != "posix" else "/tmp"
    parent = os.environ.get("RAY_TMPDIR") or parent
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="ray-", dir=parent, ignore_cleanup_errors=True))
        stack.callback(reload)
        stack.callback(ray.shutdown)
        with (
            environment(token_variables() | certificate_variables(Path(folder))),
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


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables in the block, and restore their values afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def token_variables() -> dict[str, str]:
    """Environment variables of Ray with a random token."""
    token = secrets.token_hex(32)
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, "RAY_ENABLE_K8S_TOKEN_AUTH": "false"}


def certificate_variables(folder: Path) -> dict[str, str]:
    """Environment variables of Ray with a new key and certificate, which its servers and clients require of each other.

    Without them, a call without a token can end a server of Ray.
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
    return {"RAY_USE_TLS": "1", "RAY_TLS_SERVER_KEY": str(key_file)} | dict.fromkeys(
        ("RAY_TLS_SERVER_CERT", "RAY_TLS_CA_CERT"), str(certificate_file)
    )
