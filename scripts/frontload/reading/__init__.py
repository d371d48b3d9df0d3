"""The prefetch list: what a start reads of all its files. Its format, and how it is recorded."""
