"""The race: every peer's way to a faster start beside ours, on several programs, in one run."""
