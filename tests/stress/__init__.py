"""The stress suite: attacks on the command line, each a seeded list of tries (``make stress``; minutes).

``python -m tests.stress`` runs all of them and prints a table of what was tried and what failed;
``python -m tests.stress NAME --try N`` repeats one try. One module holds one kind of attack:

- ``steps``, ``moments``, ``processes``: kills at every write step, at random moments, of fresh processes and workers,
- ``tables``, ``configs``, ``models``, ``cells``, ``mirrors``, ``arguments``: mutated inputs,
- ``flips``: one flipped bit in each cell of a store,
- ``hardship``: full disks, no permission, closed pipes, little memory, odd environments,
- ``together``: several runs at once; ``cluster``: Dask with its workers or scheduler killed,
- ``poison``: hostile texts in a store, through the report, where possible in a browser.

Importing what a run needs takes an interpreter two seconds; forking one that has imported it takes ten milliseconds.
Most tries therefore run ``main()`` in a forked child (``forks``); ``processes``, ``hardship`` and ``cluster`` start
interpreters of their own, so that start and end of a process are attacked too.
"""
