"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import mcls

MODULES = [
    info.name
    for info in pkgutil.walk_packages(mcls.__path__, "mcls.")
    if not info.name.endswith("__main__") and "._shipped" not in info.name
]


@pytest.mark.parametrize("name", ["mcls", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_every_module_says_what_it_is_for():
    for name in MODULES:
        assert (importlib.import_module(name).__doc__ or "").strip(), name
