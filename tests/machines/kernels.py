"""Which kernels a machine takes, as its class declares it."""

from mcls.machines.base import parameter_checks
from mcls.machines.registry import MACHINES


def kernels_of(name):
    """Names of kernels; none where the machine has no such parameter."""
    checks = parameter_checks(MACHINES[name].cls)
    return tuple(checks["kernel"].known) if "kernel" in checks else ()
