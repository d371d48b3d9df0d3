"""A process 1 of one's own, that looks after orphans or does not: whether there is a process that
asks for a prefetch list depends on that. Needs the ability pid-namespace."""


def process_1(reaps: bool) -> tuple[str, ...]:
    """What begins a command as the child of such a process. If it does not look after orphans, it
    says on stderr who is left when the command has ended."""
    script = ("import os, signal, subprocess, sys\n"
              f"if {reaps}: signal.signal(signal.SIGCHLD, lambda *_: None)\n"
              # For vfork, which needs no preexec_fn, all signals would be blocked for a moment.
              "status = subprocess.call(sys.argv[1:], preexec_fn=lambda: None)\n"
              "left = [id for id in os.listdir('/proc') if id.isdigit() and id != '1']\n"
              f"if left and not {reaps}: print('left:', *left, file=sys.stderr)\n"
              "try:\n  while True: os.wait()\nexcept ChildProcessError: sys.exit(status)")
    return "unshare", "--pid", "--fork", "--mount-proc", "python3", "-c", script
