"""The verbs of the `frontload` command, one module each."""
