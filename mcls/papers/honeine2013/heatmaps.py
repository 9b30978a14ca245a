"""The heat maps of Table 4 that are drawn with everything else."""

from __future__ import annotations

from mcls.reporting.plots import Pictures
from mcls.reporting.plots.heatmap import heatmap
from mcls.reporting.studies import Studies

#: (study, data set, machine)
_SHOWN = (
    ("honeine2013-table4", "glass", "oneLSM"),
    ("honeine2013-table4", "glass", "voSVM"),
    ("honeine2013-table4-yeast", "yeast", "oneLSM"),
)


def pictures(studies: Studies) -> Pictures:
    """One picture per row, of its first replicate."""
    for name, dataset, machine in _SHOWN:
        found = studies[name].one(dataset=dataset, machine=machine)
        there = found is not None and found.records[0] is not None
        yield f"grid-{dataset}-{machine}", heatmap(found) if found and there else None
