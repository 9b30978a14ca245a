"""Reporting: tables, plots and pages made from the store alone."""
