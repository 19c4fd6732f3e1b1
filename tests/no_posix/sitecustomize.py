"""Hides from Python what Windows and macOS lack: names of POSIX and Linux, and the files of /proc.

Python imports this module at its start if this folder is in PYTHONPATH; `tests/support/test_platforms.py` does so.
"""

import builtins
import errno
import io
import os
import signal
import subprocess
import sys
from functools import wraps

KILL = signal.SIGKILL
OF_OS = ["fork", "forkpty", "wait3", "wait4", "waitid", "killpg", "getpgid", "setpgid", "geteuid", "sched_getaffinity"]
OF_OS += ["sched_setaffinity", "mkfifo", "mknod", "sysconf", "memfd_create", "posix_fallocate"]
OF_SIGNAL = ["SIGHUP", "SIGKILL", "SIGALRM", "SIGXFSZ", "SIGBUS", "SIGUSR1", "SIGUSR2", "alarm", "setitimer"]
OF_SIGNAL += ["pthread_kill", "pthread_sigmask"]
HIDDEN = {os: OF_OS, signal: OF_SIGNAL}
for module, names in HIDDEN.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in ("resource", "fcntl", "termios", "pty"):
    sys.modules[name] = None  # importing it fails


def refuse_proc(function):
    """The function, for which /proc does not exist."""

    @wraps(function)
    def call(path, *args, **kwargs):
        text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        if text == "/proc" or text.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
        return function(path, *args, **kwargs)

    return call


for name in ("open", "stat", "lstat", "listdir", "scandir", "readlink", "access"):
    setattr(os, name, refuse_proc(getattr(os, name)))
io.open = builtins.open = refuse_proc(builtins.open)
subprocess.Popen.kill = lambda self: self.send_signal(KILL)
