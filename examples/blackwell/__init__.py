"""Kernels for NVIDIA Blackwell GPUs."""
