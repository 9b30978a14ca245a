"""Evaluation: scaling, folds, grid search, nested estimates and statistical tests."""
