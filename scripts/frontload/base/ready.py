"""When startup is over for a command that does not end by itself: the event to wait for.

frontload-exec waits, and ends all processes of the command (instrument/launcher/ready.h). Its
options are the same for every verb.
"""

from dataclasses import dataclass, replace

TIMEOUT_SECONDS = 60.0  # the default, also of frontload-exec
TIMED_OUT = 124  # the exit status, as that of timeout(1)


@dataclass(frozen=True)
class Ready:
    """Startup ends at the first of these events."""

    function: str | None = None  # that the program enters; the caller finds its address
    listening: str | None = None  # [ADDRESS:]PORT
    output: str | None = None  # a text that the program writes
    file: str | None = None
    idle_ms: int | None = None
    notify: bool = False  # READY=1 to $NOTIFY_SOCKET
    seconds: float | None = None
    request: str | None = None  # a shell command that counts as part of startup
    timeout: float = TIMEOUT_SECONDS
    tty: bool = False  # no event: the command has its own terminal

    @property
    def can_be_seen(self) -> bool:
        """Whether it has an event that can be seen without a recording."""
        return bool(self.function or self.listening or self.output or self.file or self.idle_ms
                    or self.notify or self.seconds)

    def slower(self, times: float) -> "Ready":
        """The same for a program that is this many times slower."""
        return replace(self, timeout=self.timeout * times,
                       seconds=self.seconds and self.seconds * times)

    def options(self) -> list[str]:
        """The options of frontload-exec and the verbs, without the function, which differs."""
        values = {"until-listening": self.listening, "until-output": self.output,
                  "until-file": self.file, "until-idle": self.idle_ms, "for": self.seconds,
                  "request": self.request,
                  "timeout": None if self.timeout == TIMEOUT_SECONDS else f"{self.timeout:g}"}
        return [*(f"--{name}={value}" for name, value in values.items() if value is not None),
                *(["--until-notify"] if self.notify else []), *(["--tty"] if self.tty else [])]

    def __str__(self) -> str:
        """Text that continues "until it"."""
        reasons = {f"enters {self.function}": self.function,
                   f"listens at {self.listening}": self.listening,
                   f"writes {self.output!r}": self.output, f"has made {self.file}": self.file,
                   f"has been idle for {self.idle_ms} ms": self.idle_ms,
                   "says READY=1": self.notify,
                   f"has run for {self.seconds} s": self.seconds}
        text = " or ".join(reason for reason, is_asked in reasons.items() if is_asked)
        return text + (f", and has answered {self.request!r}" if self.request else "")
