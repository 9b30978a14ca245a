"""Machines: thin scikit-learn classifiers over the solvers, and their registry."""
