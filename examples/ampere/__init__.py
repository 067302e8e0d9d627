"""Kernels for NVIDIA Ampere GPUs."""
