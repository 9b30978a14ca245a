"""Protocols: how the error of a machine with a grid is estimated on one data set, one file each."""

from mcls.evaluation.protocols.base import (
    PROTOCOLS,
    SETTINGS,
    Outcome,
    Protocol,
    Rows,
    check_splits,
    fewer_folds_note,
    get_protocol,
    partitions_of,
    register,
    split_notes,
)
from mcls.evaluation.protocols.five_by_two import five_by_two
from mcls.evaluation.protocols.half_split import half_split
from mcls.evaluation.protocols.hold_out import hold_out, hold_out_rows
from mcls.evaluation.protocols.nested import nested, nested_outcomes
from mcls.evaluation.protocols.nested_folds import NestedFolds, nested_fold_outcomes, nested_folds
from mcls.evaluation.protocols.published import published

__all__ = [
    "PROTOCOLS",
    "SETTINGS",
    "NestedFolds",
    "Outcome",
    "Protocol",
    "Rows",
    "check_splits",
    "fewer_folds_note",
    "five_by_two",
    "get_protocol",
    "half_split",
    "hold_out",
    "hold_out_rows",
    "nested",
    "nested_fold_outcomes",
    "nested_folds",
    "nested_outcomes",
    "partitions_of",
    "published",
    "register",
    "split_notes",
]
