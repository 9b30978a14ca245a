"""mcls: multiclass kernel least-squares classification and its relatives."""
