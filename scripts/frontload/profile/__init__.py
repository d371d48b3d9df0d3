"""Traces and startup profiles: their formats, and how traces become profiles."""
