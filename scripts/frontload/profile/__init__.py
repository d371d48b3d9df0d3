"""Traces and startup profiles: their formats, and how the first become the second."""
