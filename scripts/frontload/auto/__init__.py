"""Frontload in somebody else's build: what `frontload init` and `frontload auto` know of builds.

Where a program's link command is to be had (link_sources.py and what it uses), how it is changed
so that the program gets a front (relink.py), the trial that does all steps (trial.py), what a
folder is built by (detect.py) and what to add to it (advice.py).
"""
