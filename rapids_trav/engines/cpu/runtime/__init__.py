"""How the CPU engine compiles and runs its kernels."""
