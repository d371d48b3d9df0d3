"""The measured programs: workloads, their variants, and the folder of their builds."""
