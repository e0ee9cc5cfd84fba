"""How code for the CPU is compiled and kept, and run on several threads."""
