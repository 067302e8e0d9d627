"""Kernels on several GPUs: one process with JAX, or one process a GPU with torch."""
