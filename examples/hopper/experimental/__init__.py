"""Kernels for NVIDIA Hopper GPUs that are less settled than their neighbours."""
