"""Benchmarks: ratios against a peer, both measured in one run on the same data, folds and grid."""
