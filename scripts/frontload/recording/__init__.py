"""Recording a command: the recorders' command lines, and a run of one into a folder of traces."""
