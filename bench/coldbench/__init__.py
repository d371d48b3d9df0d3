"""The cold-start bench: variants of a real program, measured side by side (see bench/run)."""
