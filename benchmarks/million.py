"""A made table of a million rows in Parquet: fitted here and on a local Dask cluster, and the speed of prediction."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.grids import CORES
from benchmarks.measure import Row, in_child, timed
from benchmarks.scale import made_up
from mcls.environment import peak_memory_gb
from mcls.models.fitting import fit_table
from mcls.models.large import LargeSettings, fit_large
from mcls.models.saving import dump, load, save
from mcls.models.streaming import judge_table, predict_table


def write_table(path: Path, n: int, seed: int = 0) -> None:
    """Write n rows of 20 features and a class, as Parquet or CSV."""
    X, y = made_up(n, seed)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame["class"] = np.array(list("abcde"))[y]
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=50_000)


def fit_here(path: Path, out: Path) -> tuple[float, float, float, str]:
    """Wall and processor time and error of ``mcls fit``, and a digest of the model's bytes."""
    busy = time.process_time()
    seconds, fitted = timed(lambda: fit_table(path, "class"))
    save(fitted.model, out)
    digest = hashlib.sha256(dump(fitted.model)).hexdigest()
    return seconds, time.process_time() - busy, fitted.selection.error, digest


def fit_on_dask(path: Path, kill: bool) -> tuple[float, str]:
    """Wall time on a private cluster of two workers, one of which is killed half-way, and the digest."""
    from mcls.models.dask_workers import DaskWorkers

    with DaskWorkers(None, 2) as workers:
        killed: list[int] = []

        def on_step(what: str, done: int, total: int | None = None) -> None:
            if kill and not killed and "summed" in what and total and 2 * done >= total:
                pids = workers._client.run(os.getpid)
                killed.append(next(iter(pids.values())))
                os.kill(killed[0], signal.SIGKILL)

        seconds, fitted = timed(lambda: fit_table(path, "class", workers=workers, on_step=on_step))
    return seconds, hashlib.sha256(dump(fitted.model)).hexdigest()


def million(n: int = 1_000_000) -> Iterator[Row]:
    """``mcls fit`` on a made table of n rows, beside LightGBM; then the same bytes from two Dask workers."""
    with tempfile.TemporaryDirectory() as name:
        path, new, out = (Path(name) / file for file in ("table.parquet", "new.parquet", "m.mcls"))
        write_table(path, n)
        write_table(new, n // 10, seed=7)
        (seconds, busy, error, digest), peak = in_child(fit_here, path, out)
        wrong = 100 * judge_table(load(out), new).error
        note = f"peak {peak:.2f} GB, {busy:.0f} s of processor time; "
        note += f"CV error {100 * error:.2f}, on new rows {wrong:.2f}"
        peers: list[tuple[str, float | None, str]] = [("", None, "")]
        if importlib.util.find_spec("lightgbm"):
            peers = [("LightGBM, defaults", *_lightgbm(path, new))]
        for peer, peer_seconds, told in peers:
            yield Row("million rows", f"{n} x 20, Parquet", "mcls fit", seconds, peer, peer_seconds, note + told)
        if importlib.util.find_spec("distributed"):
            for kill in (False, True):
                seconds, other = fit_on_dask(path, kill)
                same = "the same bytes" if other == digest else "OTHER BYTES"
                how = "two Dask workers, one killed half-way" if kill else "two Dask workers"
                yield Row("million rows", f"{n} x 20, Parquet", how, seconds, "", None, same)


def _lightgbm(path: Path, new: Path) -> tuple[float, str]:
    from lightgbm import LGBMClassifier

    frame, unseen = pd.read_parquet(path), pd.read_parquet(new)
    model = LGBMClassifier(verbose=-1, n_jobs=CORES)
    seconds, _ = timed(lambda: model.fit(frame.drop(columns="class"), frame["class"]))
    wrong = 100 * float(np.mean(model.predict(unseen.drop(columns="class")) != unseen["class"]))
    return seconds, f" and {wrong:.2f}"


def predictions(n: int = 100_000, m: int = 4000) -> Iterator[Row]:
    """Rows per second of ``mcls predict`` with m landmarks, of CSV and of Parquet."""
    with tempfile.TemporaryDirectory() as name:
        train = Path(name) / "train.parquet"
        write_table(train, 5 * m)
        grid = {"sigma": [0.5], "gamma": [1.0]}
        model = fit_large([train], "class", LargeSettings(f"oneLSM:n_landmarks={m}", grid, folds=2)).model
        for ending in ("csv", "parquet"):
            path, out = Path(name) / f"new.{ending}", Path(name) / "out.csv"
            write_table(path, n, seed=7)
            with open(out, "w", newline="") as stream:
                seconds, _ = timed(lambda: predict_table(model, path, stream))  # noqa: B023
            note = f"{n / seconds:.0f} rows per second; peak {peak_memory_gb():.2f} GB"
            yield Row("predict", f"{n} x 20, {ending}, m={m}", "mcls predict", seconds, "", None, note)
