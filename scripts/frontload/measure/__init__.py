"""Starts, measured and predicted: rounds, conditions, statistics, figures."""
