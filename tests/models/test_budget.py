"""What a time and a memory allow."""

import pytest

from mcls.errors import McLsError
from mcls.models import budget


def test_a_budget_and_a_memory_choose_the_landmarks(monkeypatch):
    work = budget.Work(10**6, 10, 5, 8, 2, 2, 8, reading=5.0)
    speed = budget.Speed(1e-8, 3e-11)
    m, kernels = budget.affordable_landmarks(work, 2, 600.0, None, speed)
    assert m in budget.LANDMARK_COUNTS
    assert kernels * work.seconds(m, speed) <= 600.0
    assert budget.affordable_landmarks(work, 2, 60.0, None, speed)[0] < m
    assert (
        budget.affordable_landmarks(work, 2, None, 1e9, None)[0]
        < budget.affordable_landmarks(work, 2, None, 4e9, None)[0]
    )
    assert budget.affordable_landmarks(work, 2, None, None, None) == (budget.USUAL, 2)
    with pytest.raises(McLsError, match="too little for 100 landmarks"):
        budget.affordable_landmarks(work, 2, 10.0, None, speed)
    with pytest.raises(McLsError, match="allowed by --memory"):
        budget.affordable_landmarks(work, 2, None, 1e8, None)
    with pytest.raises(McLsError, match=r"20000 landmarks and 10 folds need \d+.\d GB"):
        budget.require_memory(work, 20_000, None)
    for wrong in ("", "60", "-1s", "0s", "abc", "1e9s"):
        with pytest.raises(McLsError, match="--budget is a time"):
            budget.read_seconds(wrong)
    for wrong in ("", "4", "0GB", "4XB"):
        with pytest.raises(McLsError, match="--memory is an amount"):
            budget.read_bytes(wrong)


def test_twenty_thousand_rows_fit_in_sixteen_gigabytes():
    assert budget.exact_fit_bytes(20_000) < 16e9
    assert budget.available_bytes() > 0
