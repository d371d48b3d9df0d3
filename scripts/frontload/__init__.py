"""Frontload: makes big native programs start in one sequential read.

This package is the command `frontload`. It reads traces, builds startup profiles and order files,
checks linked binaries, and measures starts. Recording and linking are done by native programs
beside it (see base/tools.py).
"""

__version__ = "0.1.0"
