"""What is recorded of the machine beside each measurement."""

import os
from pathlib import Path

import pytest
from frontload.machine import host as measure_host


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """kernel(**files): a /sys with these files, `/` in their names being `__`."""
    def kernel(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
    monkeypatch.setattr(measure_host, "_CPUS", tmp_path / "cpu")
    monkeypatch.setattr(measure_host, "_BLOCK", tmp_path / "block")
    return kernel


def test_frequencies_and_governors_of_all_processors(kernel):
    """What cpufreq says, in MHz: the least and the most; what the kernel does not tell is null."""
    kernel(cpu__cpufreq__policy0__scaling_governor="performance",
           cpu__cpufreq__policy0__scaling_cur_freq="<unknown>")
    assert measure_host.describe_frequency() == {
        "source": "cpufreq", "mhz": None, "governors": ["performance"], "limits_mhz": None}
    kernel(cpu__cpufreq__policy1__scaling_cur_freq=1500000,
           cpu__cpufreq__policy1__scaling_min_freq=800000,
           cpu__cpufreq__policy1__scaling_max_freq=3200000,
           cpu__cpufreq__policy1__scaling_governor="powersave",
           cpu__cpufreq__policy2__scaling_cur_freq=3000000)
    assert measure_host.describe_frequency() == {
        "source": "cpufreq", "mhz": [1500, 3000], "governors": ["performance", "powersave"],
        "limits_mhz": [800, 3200]}


def test_without_cpufreq_the_frequency_is_that_of_cpuinfo(kernel):
    """Virtual machines have no cpufreq; most x86 ones have MHz in /proc/cpuinfo."""
    found = measure_host.describe_frequency()
    assert (found is not None) == ("cpu MHz" in Path("/proc/cpuinfo").read_text())
    assert not found or (found["source"] == "/proc/cpuinfo" and found["mhz"][0] > 0)


def test_a_partition_has_its_disks_queue(kernel, tmp_path):
    """With the scheduler in use, and whether it turns; files in memory have none."""
    kernel(disks__sda__queue__rotational=1, disks__sda__queue__scheduler="none [mq-deadline] bfq",
           disks__sda__sda1__partition=1)
    (tmp_path / "block").mkdir()
    (tmp_path / "block/8:1").symlink_to(tmp_path / "disks/sda/sda1")
    assert measure_host._describe_device(os.makedev(8, 1)) == {
        "number": "8:1", "name": "sda1", "rotational": True, "scheduler": "mq-deadline"}
    assert measure_host.describe_device("/proc/self/maps") is None
