"""Judges the measured figures: whether required figures hold, and who is first."""
