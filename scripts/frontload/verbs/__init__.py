"""The verbs of the `frontload` command, one module each.

A verb imports what needs numpy or scipy when it runs: they take up to a second, which --help need
not pay.
"""
