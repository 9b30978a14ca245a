"""Four artificial sets in the plane, our own: classes of several clusters, arcs or rings; and one of images' size.

Arvanitopoulos et al. show theirs only as pictures. These have the same character, no more: a linear
machine that keeps classes whole fails on them, and splitting classes into subclasses helps. The fifth has the
size of their faces, which are not free, and serves to measure times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mcls.data.parsers import ParsedTable

Points = NDArray[np.float64]  # (n, 2), or as many pixels


def _cluster(rng: np.random.Generator, size: int, centre: tuple[float, float], spread: float) -> Points:
    return np.array(centre) + spread * rng.standard_normal((size, 2))


def _polar(rng: np.random.Generator, radii: NDArray[np.float64]) -> Points:
    angles = rng.uniform(0.0, 2.0 * np.pi, len(radii))
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def three_rings(rng: np.random.Generator) -> list[Points]:
    """Three concentric rings that overlap a little, 300 points each."""
    return [_polar(rng, rng.normal(radius, 0.2, 300)) for radius in (0.6, 1.2, 1.8)]


def corners_and_centre(rng: np.random.Generator) -> list[Points]:
    """Two classes on opposite corners of a square, a third in its middle; 60 points a cluster."""
    corners = [[(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)], [(0.5, 0.5)]]
    return [np.vstack([_cluster(rng, 60, centre, 0.075) for centre in centres]) for centres in corners]


def disc_in_ring(rng: np.random.Generator) -> list[Points]:
    """A disc of 120 points inside a ring of 230."""
    disc = _polar(rng, 0.95 * np.sqrt(rng.uniform(0.0, 1.0, 120)))
    ring = _polar(rng, rng.uniform(1.45, 2.15, 230))
    return [disc, ring]


def one_class_in_two(rng: np.random.Generator) -> list[Points]:
    """Four classes of 150 points, the first on both sides of the second."""
    first = np.vstack([_cluster(rng, 85, (0.0, 0.0), 0.15), _cluster(rng, 65, (2.0, 0.0), 0.15)])
    return [first, *(_cluster(rng, 150, centre, 0.15) for centre in [(1.0, -0.2), (0.0, 2.0), (2.0, 2.0)])]


def faces(rng: np.random.Generator) -> list[Points]:
    """704 images of 40 × 30 pixels with seven expressions: a pattern for each, under noise twice as strong."""
    sizes = [101] * 4 + [100] * 3
    return [rng.standard_normal(1200) + 2.0 * rng.standard_normal((size, 1200)) for size in sizes]


GENERATORS: dict[str, Callable[[np.random.Generator], Sequence[Points]]] = {
    "artificial-1": three_rings,
    "artificial-2": corners_and_centre,
    "artificial-3": disc_in_ring,
    "artificial-4": one_class_in_two,
    "artificial-5": faces,
}


def generate(name: str) -> ParsedTable:
    """Make an artificial set: always the same one, its number being the seed.

    Four decimals are kept: the last bits of a sine differ between platforms, and the fingerprint must not.
    """
    seed = int(name.rsplit("-", 1)[1])
    parts = GENERATORS[name](np.random.default_rng(seed))
    labels = [letter for letter, part in zip("ABCDEFG", parts) for _ in range(len(part))]
    points: Points = np.vstack(parts)
    return ParsedTable(points.round(4), labels)
