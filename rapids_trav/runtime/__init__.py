"""How code for the CPU is compiled and run on several threads."""
