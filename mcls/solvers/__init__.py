"""Solvers: plain functions on arrays, one file per machine family."""
