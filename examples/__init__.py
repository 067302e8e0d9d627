"""Kernels to read, run and take from: see README.md beside this file."""
