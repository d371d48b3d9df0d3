"""The command line: the parser, help, man pages and completions, what
files have for people to read, and the loading of verbs."""
