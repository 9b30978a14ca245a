"""Solvers: plain functions on arrays, one file a machine family."""
