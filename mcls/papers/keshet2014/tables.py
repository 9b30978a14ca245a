"""keshet2014: its worked examples as tables. They are computed on the spot; no study stands behind them."""

from __future__ import annotations

import numpy as np

from mcls.coding.decoders import codeword_scores, distances
from mcls.papers.keshet2014.sectors import DECISIONS, EQUAL, UNEQUAL, best_line, error_of, middles, sectors
from mcls.papers.keshet2014.updates import EXAMPLES
from mcls.reporting.paper import TableSpec, difference
from mcls.reporting.published import value
from mcls.reporting.studies import Studies
from mcls.reporting.table import Entry, Table, make, number, words

#: Sec. 1.3, "Example": the coding matrix (4, 7), and the outputs of the binary classifiers (7,).
M = np.array(
    [
        [-1, 0, -1, -1, +1, -1, -1],
        [+1, -1, 0, +1, +1, +1, -1],
        [+1, 0, -1, -1, -1, +1, +1],
        [-1, -1, +1, 0, -1, -1, +1],
    ]
)
F = np.array([0.5, -7.0, -1.0, -2.0, -10.0, -12.0, 9.0])

DECODERS = ("hamming", "loss-exponential")


def published(example: str, item: str) -> float | None:
    """A figure of the notes."""
    return value("keshet2014-examples", "value", example=example, item=item)


def decoding(studies: Studies) -> Table:
    """Distances of the outputs to each codeword by both decoders, and the class that each predicts."""
    by = {name: distances(name, M, F[None])[0] for name in DECODERS}
    rows = []
    for r, codeword in enumerate(M):
        row = [words(str(r + 1)), words(" ".join(f"{entry:+d}" if entry else "0" for entry in codeword))]
        for name in DECODERS:
            paper = published(name, str(r + 1))
            digits = 0 if by[name][r] > 1000 else 1  # as the notes do
            row += [number(by[name][r], digits), number(paper, digits)]
            row.append(difference(round(by[name][r], digits), paper))
        rows.append(row)
    foot: list[Entry] = [words("prediction"), words("")]
    for name in DECODERS:
        predicted = int(codeword_scores(name, M, F[None]).argmax()) + 1
        paper = published(name, "prediction")
        foot += [number(predicted, 0), number(paper, 0), difference(predicted, paper)]
    return make(
        "keshet2014-decoding",
        "keshet2014, Sec. 1.3: decoding a code of four classes",
        [
            *("class", "codeword", "Hamming", "paper Hamming", "Hamming - paper"),
            *("exponential loss", "paper loss", "loss - paper"),
        ],
        rows,
        [
            "Distances of the outputs f(x) = (0.5, -7, -1, -2, -10, -12, 9) to each codeword, by Eq. (1) and Eq. (2) "
            "with L(z) = exp(-z). The smallest wins: Hamming decoding looks at signs only, and the two differ.",
            "Large losses are rounded to whole numbers, as in the notes.",
        ],
        studies.quick,
        [foot],
    )


def updates(studies: Studies) -> Table:
    """What one mistake does to the weights, by each rule."""
    rows = []
    for example in EXAMPLES:
        for r, name in enumerate(example.classes):
            rows.append(
                [
                    words(example.name),
                    words(f"{name} (true)" if r == example.label else name),
                    words(_vector(example.W[r])),
                    number(example.scores[r]),
                    number(example.tau[r], 1, sign=True),
                    words(_vector(example.after[r])),
                    number(example.scores_after[r]),
                ]
            )
    shown = ", ".join(f"{_vector(e.x)} ({e.name})" for e in EXAMPLES)
    return make(
        "keshet2014-updates",
        "keshet2014, Sec. 2.1 and Fig. 1: what a mistake of the perceptron changes",
        ["update", "class", "w before", "w·x before", "τ", "w after", "w·x after"],
        rows,
        [
            f"One row x of the true class is seen, another class has the highest score, and every w gains τx. "
            f"x: {shown}. The figure of the notes has no numbers; these weights are ours.",
            "binary: two weight vectors of opposite sign, which move as the binary perceptron's w does, so that their "
            "difference is 2w. two-class: the true class and the predicted one move. spread: every class that scores "
            "higher than the true one pays its share.",
        ],
        studies.quick,
    )


def _vector(w: np.ndarray) -> str:
    return f"({', '.join(f'{value:.2f}' for value in w)})"


def three_sectors(studies: Studies) -> Table:
    """Errors on the sectors by machines of each kind, and of the best straight lines."""
    rows = []
    zero = published("sectors", "multiclass error")
    for title, angles in (("equal", EQUAL), ("160, 130, 70", UNEQUAL)):
        X, y = sectors(angles)
        if angles == EQUAL:
            error = 100 * float(np.mean((X @ middles().T).argmax(axis=1) != y))
            rows.append(
                [
                    words(title),
                    words("w to the middle of each sector"),
                    words("arg max of three scores, by hand"),
                    number(error),
                    number(zero, 0),
                    difference(error, zero),
                ]
            )
        for name, decision in DECISIONS.items():
            error = error_of(name, angles)
            paper = zero if angles == EQUAL and name == "crammer-singer" else None
            rows.append(
                [
                    words(title),
                    words(name),
                    words(decision),
                    number(error),
                    number(paper, 0),
                    difference(error, paper),
                ]
            )
        for c in range(len(angles)):
            error = 100 * best_line(X, y == c).error
            decision = "one straight line, the best of all"
            rows.append(
                [
                    words(title),
                    words(f"class {c + 1} against the rest"),
                    words(decision),
                    number(error),
                    number(None),
                    number(None),
                ]
            )
    return make(
        "keshet2014-sectors",
        "keshet2014, Sec. 3 and Fig. 2: three sectors of the disc, errors in percent",
        ["sectors", "what decides", "how", "error", "paper error", "difference"],
        rows,
        [
            "132 rows on rays and circles of three sectors; the error is that on these rows, linear kernel. The notes "
            "say that the multiclass SVM has zero error and that no linear separator splits the labels into two groups "
            "without error: the best of all lines, with a bias too, is found by trying every pair of rows.",
            "With equal sectors the arg max of one-against-all is right all the same, by symmetry: its three binary "
            "machines are wrong, and equally so. With sectors that are not equal it is not: the multiclass "
            "machines still separate them.",
        ],
        studies.quick,
    )


def tables(studies: Studies) -> list[Table]:
    """All worked examples."""
    return [decoding(studies), updates(studies), three_sectors(studies)]


EXAMPLES_TABLE = TableSpec("examples", "the worked examples: decoding, updates, three sectors", (), tables)
