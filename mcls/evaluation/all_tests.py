"""Every statistical test in one place: what ``mcls.statistics`` is."""

from mcls.evaluation.permutations import PermutationResult, paired_permutation_test, permutation_test
from mcls.evaluation.resampling_tests import (
    Effect,
    Posterior,
    bayesian_signed_rank,
    bayesian_ttest,
    corrected_ttest,
    holm,
    pairwise_wilcoxon,
    wilcoxon,
)
from mcls.evaluation.statistics import (
    FriedmanResult,
    McNemarResult,
    TestResult,
    average_ranks,
    friedman,
    ftest_5x2cv,
    honest_interval,
    mcnemar,
    nemenyi_critical_difference,
    ttest_5x2cv,
    wilson,
)

__all__ = [
    "Effect",
    "FriedmanResult",
    "McNemarResult",
    "PermutationResult",
    "Posterior",
    "TestResult",
    "average_ranks",
    "bayesian_signed_rank",
    "bayesian_ttest",
    "corrected_ttest",
    "friedman",
    "ftest_5x2cv",
    "holm",
    "honest_interval",
    "mcnemar",
    "nemenyi_critical_difference",
    "paired_permutation_test",
    "pairwise_wilcoxon",
    "permutation_test",
    "ttest_5x2cv",
    "wilcoxon",
    "wilson",
]
