"""When a start is over that does not end by itself: what a command is waited for to do.

frontload-exec waits, and ends all that the command has started (instrument/launcher/ready.h). Here
is what it is asked for, the same for every verb.
"""

from dataclasses import dataclass, replace

TIMEOUT_SECONDS = 60.0  # where nothing else is said, also by frontload-exec
TIMED_OUT = 124  # the exit status, as that of timeout(1)


@dataclass(frozen=True)
class Ready:
    """The first that comes counts."""

    function: str | None = None  # of the program, which it enters; who starts it finds the place
    listening: str | None = None  # [ADDRESS:]PORT
    output: str | None = None  # a text that it writes
    file: str | None = None
    idle_ms: int | None = None
    notify: bool = False  # READY=1 to $NOTIFY_SOCKET
    seconds: float | None = None
    request: str | None = None  # a shell's command that counts as part of the start
    timeout: float = TIMEOUT_SECONDS
    tty: bool = False  # not waited for: the command has a terminal of its own

    @property
    def can_be_seen(self) -> bool:
        """Whether it says when, also where nothing is recorded."""
        return bool(self.function or self.listening or self.output or self.file or self.idle_ms
                    or self.notify or self.seconds)

    def slower(self, times: float) -> "Ready":
        """The same of a program that takes so many times longer."""
        return replace(self, timeout=self.timeout * times,
                       seconds=self.seconds and self.seconds * times)

    def options(self) -> list[str]:
        """Those of frontload-exec, and of the verbs; for a function, those have others."""
        values = {"until-listening": self.listening, "until-output": self.output,
                  "until-file": self.file, "until-idle": self.idle_ms, "for": self.seconds,
                  "request": self.request,
                  "timeout": None if self.timeout == TIMEOUT_SECONDS else f"{self.timeout:g}"}
        return [*(f"--{name}={value}" for name, value in values.items() if value is not None),
                *(["--until-notify"] if self.notify else []), *(["--tty"] if self.tty else [])]

    def __str__(self) -> str:
        """As a sentence goes on after "until it"."""
        reasons = {f"enters {self.function}": self.function,
                   f"listens at {self.listening}": self.listening,
                   f"writes {self.output!r}": self.output, f"has made {self.file}": self.file,
                   f"has been idle for {self.idle_ms} ms": self.idle_ms,
                   "says READY=1": self.notify,
                   f"has run for {self.seconds} s": self.seconds}
        text = " or ".join(reason for reason, is_asked in reasons.items() if is_asked)
        return text + (f", and has answered {self.request!r}" if self.request else "")
