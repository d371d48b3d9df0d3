"""What the measured figures mean: whether required figures hold, and who is first."""
