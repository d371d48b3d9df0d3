"""Frontload in somebody else's build: what `frontload init` and `frontload auto` know of builds.

link_sources.py and what it uses find a program's link command, relink.py changes it so that the
program gets a front, and trial.py does all steps of a trial. detect.py finds out what a folder is
built by, and advice.py what to add to it.
"""
