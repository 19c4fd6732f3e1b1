"""The command `embeddings`, also as `python -m embeddings`.

Ctrl-C ends the process with exit code 130 and no traceback at any moment: while modules are imported, during a command,
and after it, when nothing is left to do but to free memory; `os._exit` leaves that to the system.
"""

import gc
import os
import signal
import sys
import warnings
from types import FrameType
from typing import NoReturn

EXIT_INTERRUPT = 130  # 128 + SIGINT
GARBAGE_THRESHOLDS = (10_000, 20, 20)  # the modules that are imported are many objects, and hardly any are garbage


def exit_at_once(number: int, frame: FrameType | None) -> None:
    """End the process, in which nothing has to be saved or removed."""
    os.write(2, b"Interrupted\n")
    os._exit(EXIT_INTERRUPT)


def main() -> NoReturn:
    """Run the command line and end the process."""
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as in the background of a shell script
        signal.signal(signal.SIGINT, exit_at_once)
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    code: object = EXIT_INTERRUPT
    try:
        from embeddings.cli import main as run
        from embeddings.cli.progress_bar import show_warning

        warnings.showwarning = show_warning
        run(prog_name="embeddings")
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:  # a second Ctrl-C, which interrupted the handling of the first
        pass
    finish(code if isinstance(code, int) else int(code is not None))


def finish(code: int) -> NoReturn:
    """End the process after functions that are registered for its end, such as the removal of temporary folders."""
    import atexit

    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()  # of what a plugin printed before an error
    except Exception:  # reported by the command
        code = code or 1
    os._exit(code)


if __name__ == "__main__":
    main()
