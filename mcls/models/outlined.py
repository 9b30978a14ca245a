"""A machine in outline: what a model file says of it, without its code."""

from __future__ import annotations

from typing import Any


class Outline:
    """What a file says of a machine: its parameters and fitted attributes, under the name of its class."""

    calibration: str | None = None

    def __init__(self, params: dict[str, Any], fitted: dict[str, Any]) -> None:
        self.__dict__ |= params | fitted
        self.__params = params

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """The parameters."""
        return dict(self.__params)

    def importances(self) -> Any:
        """How much each column matters, where the machine says so."""
        return vars(self).get("feature_importances_")


def is_ours(fitted: Any) -> bool:
    """Whether a fitted classifier is one of our machines, be it in outline; others are of other libraries."""
    if isinstance(fitted, Outline):
        return True
    from mcls.machines.base import BaseMachine

    return isinstance(fitted, BaseMachine)
