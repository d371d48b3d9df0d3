"""What is measured: workloads, their variants, and the folder that they are built in."""
