"""Marks of tests that require what not every system has."""

import os
import signal
import sys
from pathlib import Path

import pytest

try:
    import fcntl
    import resource
except ImportError:
    fcntl = resource = None

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")
needs_kill = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no SIGKILL")
needs_hangup = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no SIGHUP")
needs_limits = pytest.mark.skipif(resource is None, reason="the system has no limits of resources")
needs_locks = pytest.mark.skipif(fcntl is None, reason="no lock is required on Windows")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform != "linux", reason="only Linux forks safely")
needs_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no users with modes")
needs_wait4 = pytest.mark.skipif(not hasattr(os, "wait4"), reason="measuring processes requires POSIX")
