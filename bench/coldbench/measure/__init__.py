"""Measures the variants: their starts, links and recordings."""
