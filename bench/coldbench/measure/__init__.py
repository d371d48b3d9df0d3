"""What bench measures of the variants: their starts, links and recordings."""
