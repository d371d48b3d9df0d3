"""The command line: the parser, help, man pages and completions, and the loading of verbs."""
