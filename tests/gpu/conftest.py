"""Tests of several processes share one GPU: JAX is not to take three quarters of its memory when it is first used."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
