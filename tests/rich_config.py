"""A config with every kind of field, which tests mutate."""

from __future__ import annotations

from typing import Any

RICH: dict[str, Any] = {
    "name": "lab",
    "description": "a rich one",
    "datasets": [
        "iris",
        {"name": "iris", "options": {"sample": 60, "seed": 1}},
    ],
    "machines": [
        "oneLSM",
        "voLSSVM:labelbook=pm1",
        {
            "name": "voRLS-f",
            "labelbook": ["pm1", "mincorr"],
            "options": {"decision": "nearest"},
            "grid": {"gamma": 1},
        },
    ],
    "protocol": "published",
    "folds": 3,
    "nested": 1,
    "inner_folds": 3,
    "grid": {"gamma": "2^-1..2^1", "sigma": [0.5, 2]},
    "scaling": "fold",
    "seed": 7,
    "replicates": 2,
    "engine": "fast",
    "timing": False,
}
