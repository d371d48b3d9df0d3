"""Judges the measured figures: who is first, and whether predictions were right."""
