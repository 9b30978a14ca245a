"""The papers whose tables are reproduced, one module each."""
