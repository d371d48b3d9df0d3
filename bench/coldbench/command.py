"""How the programs of the bench end: with a message and the exit status for whatever happened."""

from collections.abc import Callable

from frontload.base import errors, processes


def end(run: Callable[[], int], program: str) -> int:
    """Does the work of `program`; returns its exit status, or that of what went wrong."""
    try:
        with processes.unwinding_on_signals():
            return run()
    except errors.Failure as failure:
        errors.error(failure.message)
        if failure.note:
            errors.note(failure.note)
        return failure.code
    except OSError as problem:
        errors.error(f"{problem.filename or program}: {problem.strerror or problem}")
        return errors.EXIT_USAGE
    except errors.Interrupted as interrupted:
        errors.error(f"{interrupted}: ended, and cleaned up")
        return interrupted.exit_status
