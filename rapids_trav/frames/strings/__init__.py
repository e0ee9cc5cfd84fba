"""String columns on the CPU: kernels over Arrow buffers that find, number and sort the distinct strings."""
