"""Frontload in other projects' builds, for `frontload init` and `frontload auto`.

link_sources.py finds a program's link command, relink.py changes the command so that the program
gets a front, and trial.py runs all steps of a trial. launched.py finds the program behind a script,
own_libraries.py the libraries of the same build; outcome.py judges the front. build_folder.py
recognizes a folder's build system, and advice.py has the lines to add to it.
"""
