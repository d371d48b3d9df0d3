"""What a start waits for, from perf's records, without perf."""

import pytest
from abilities import needs
from frontload.faults.waits import DISK, Threads
from frontload.tracing import perf_records as records
from hypothesis import given
from hypothesis import strategies as st

pytestmark = needs("x86-64")  # the numbers of system calls are its
POLL, READ, FUTEX, UNKNOWN = 7, 0, 202, 9999


def followed(*told) -> Threads:
    """Of threads 1 and 2, which begin at 0: (time, thread, what, its argument)."""
    threads = Threads()
    threads.begin(1, 0, 0)
    threads.begin(2, 0, 0)
    kinds = {"enter": records.CallEnter, "exit": records.CallExit, "off": records.Switch,
             "end": records.Exit, "page fault": records.Fault}
    for time, thread, what, *more in told:
        if what == "page fault":
            more = [False, 0, 0, False]
        elif what == "fill":
            threads.see(records.Fill(1, thread, time, (8, 1), 5, 0, 0))
            continue
        threads.see(kinds[what](1, thread, time, *more))
    return threads


def waits(*told, start=0) -> list[tuple[int, int, str]]:
    return [(wait.start, wait.end, wait.reason) for wait in followed(*told).waits(start)]


SECOND_SLEEPS = (1, 2, "enter", FUTEX), (1, 2, "off", "S")
SLEEPS = *SECOND_SLEEPS, (10, 1, "enter", POLL), (11, 1, "off", "S")


@pytest.mark.parametrize(("told", "expected"), [
    ([*SLEEPS, (90, 1, "exit")], [(11, 90, "poll")]),
    # It woke up and slept on: the time between is not told.
    ([*SLEEPS, (50, 1, "off", "S"), (90, 1, "exit")], [(11, 90, "poll")]),
    # The last wait has no end.
    (SLEEPS, []),
    # The other thread ends while it sleeps.
    ([*SLEEPS, (90, 2, "end")], [(11, 90, "futex")]),
    # A wait belongs to who ends it; the first sleeps on.
    ([*SLEEPS, (50, 2, "exit")], [(11, 50, "futex")]),
    # While a thread runs nothing is waited for.
    ([(10, 1, "enter", POLL), (11, 1, "off", "S"), (90, 1, "exit")], []),
    # Threads that are not the command's are passed over.
    ([(5, 77, "enter", POLL), (6, 77, "off", "S"), (9, 77, "exit")], []),
    *(([*SECOND_SLEEPS, *rest, (90, 1, "exit")], expected) for rest, expected in [
        # It could have run on.
        ([(10, 1, "enter", POLL), (11, 1, "off", "R")], []),
        ([(10, 1, "enter", READ), (11, 1, "off", "D")], [(11, 90, DISK)]),
        ([(10, 1, "enter", READ), (11, 1, "fill"), (12, 1, "off", "S")], [(12, 90, DISK)]),
        ([(10, 1, "enter", READ), (12, 1, "off", "S")], [(12, 90, "read")]),
        ([(10, 1, "enter", UNKNOWN), (12, 1, "off", "S")], [(12, 90, "another system call")])]),
    # A page fault, which may be of a file on FUSE.
    ([*SECOND_SLEEPS, (11, 1, "off", "S"), (90, 1, "page fault")], [(11, 90, DISK)]),
])
def test_what_a_thread_waits_for(told, expected):
    assert waits(*told) == expected


def test_what_was_before_the_start_is_left_out():
    assert waits(*SLEEPS, (19, 1, "exit"), (20, 1, "enter", POLL), (21, 1, "off", "S"),
                 (30, 1, "exit"), start=20) == [(21, 30, "poll")]


@given(st.lists(st.lists(st.integers(1, 5), max_size=12), min_size=1, max_size=4))
def test_waits_are_the_times_in_which_nobody_runs(lengths):
    """Compared with a count in steps: threads that run and sleep in turn, each for so long."""
    threads, told = Threads(), []
    asleep: dict[int, set[int]] = {}
    for thread, parts in enumerate(lengths):
        threads.begin(thread, 0, 0)
        now = 0
        asleep[thread] = set()
        for number, length in enumerate(parts):
            if number % 2 and number + 1 < len(parts):
                told += [records.Switch(1, thread, 4 * now, "D"),
                         records.CallEnter(1, thread, 4 * (now + length), READ)]
                asleep[thread] |= set(range(now, now + length))
            now += length
    for record in sorted(told, key=lambda each: each.time):
        threads.see(record)
    found = {step for wait in threads.waits(0) for step in range(wait.start // 4, wait.end // 4)}
    assert found == set.intersection(*asleep.values())


def test_how_perf_tells_it():
    """A command may be called as perf's own text is."""
    text = (b"5/6  1.000000001: raw_syscalls:sys_enter: NR 7 (1, 2, 3, 4, 5, 6)\n"
            b"5/6  1.000000002: sched:sched_switch: prev_comm=a prev_state=R prev_pid=6 "
            b"prev_prio=120 prev_state=D|K ==> next_comm=x prev_state=S y next_pid=0 next_prio=1\n"
            b"5/6  1.000000003: raw_syscalls:sys_exit: NR 7 = -4\n")
    enter, off, leave = records.parse(text.splitlines(keepends=True))
    assert enter.number == 7 and off.for_disk and isinstance(leave, records.CallExit)
