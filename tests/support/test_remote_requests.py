"""What errors of the libraries mean, and which of them are met by another attempt."""

import pytest

from embeddings.errors import RemoteError, SettingError
from embeddings.support.remote import requests
from embeddings.support.remote.address import Address
from embeddings.support.remote.requests import PermanentError, attempt, reason, timeout

ADDRESS = Address("s3", "bucket", "x")
AWS = "When reading information for key 'x' in bucket 'b': AWS Error {} during HeadObject operation: {}"


@pytest.mark.parametrize(
    ("error", "expected", "attempts"),
    [
        (OSError(AWS.format("NETWORK_CONNECTION", "curlCode: 7, Could not connect")), "refused", 4),
        (OSError(AWS.format("NETWORK_CONNECTION", "curlCode: 28, Timeout was reached")), "no answer in time", 4),
        (OSError(AWS.format("NETWORK_CONNECTION", "curlCode: 6, Could not resolve")), "host is unknown", 1),
        (OSError(AWS.format("ACCESS_DENIED", "No response body.")), "permission denied; check the credentials", 1),
        (OSError(AWS.format("SIGNATURE_DOES_NOT_MATCH", "")), "secret key is wrong", 1),
        (OSError(AWS.format("NO_SUCH_BUCKET", "")), "no such bucket", 1),
        (OSError(AWS.format("UNKNOWN (HTTP status 301)", "")), "AWS_REGION", 1),
        (OSError(AWS.format("SLOW_DOWN", "")), "SLOW_DOWN", 4),
        (OSError("google::cloud::Status(UNAVAILABLE: Could not create a OAuth2 access token"), "credentials", 1),
        (OSError(-2, "Name or service not known"), "host is unknown", 1),
        (FileNotFoundError("x"), "does not exist", 1),
        (PermissionError("x"), "permission denied", 1),
        (PermanentError("is odd"), "is odd", 1),
        (RuntimeError("two\nlines"), "two lines", 4),
        (OSError("part-404.bin of /400/permission: reset"), "reset", 4),
        (OSError("cannot open 's3://bucket/OAuth2.txt': reset"), "reset", 4),
        (OSError("the service answered HTTP status 403"), "403", 1),
        (RuntimeError("Error code 401: Unauthorized"), "401", 1),
    ],
)
def test_errors_are_named_and_repeated_if_they_may_pass(monkeypatch, error, expected, attempts):
    monkeypatch.setattr(requests, "FIRST_WAIT", 0)
    assert expected in reason(error)
    calls = []

    def fail():
        calls.append(1)
        raise error

    with pytest.raises(RemoteError, match="s3://bucket/x ") as raised:
        attempt(ADDRESS, fail)
    assert expected in str(raised.value)
    assert len(calls) == attempts
    assert raised.value.__cause__ is None


def test_a_later_attempt_may_succeed(monkeypatch):
    monkeypatch.setattr(requests, "FIRST_WAIT", 0)
    results = iter([OSError("dropped"), OSError("dropped"), 7])

    def act():
        result = next(results)
        if isinstance(result, OSError):
            raise result
        return result

    assert attempt(ADDRESS, act) == 7


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan", "1e9"])
def test_a_wrong_time_limit_is_refused(monkeypatch, text):
    monkeypatch.setenv("EMBEDDINGS_REMOTE_TIMEOUT", text)
    with pytest.raises(SettingError, match="EMBEDDINGS_REMOTE_TIMEOUT"):
        timeout()
