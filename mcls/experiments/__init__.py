"""Experiments: configs, cells, the runner and the store."""
