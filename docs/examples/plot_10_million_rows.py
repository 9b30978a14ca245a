"""
A million rows
==============

With landmarks, the kernel machine keeps to functions spanned by a few hundred rows: memory and time grow with the rows
times the landmarks, and the kernel matrix of all rows is never formed.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from mcls import OneLSM

rng = np.random.default_rng(0)
n = 1_000_000
X = rng.uniform(-1, 1, size=(n, 4))
y = np.digitize(np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2], [-0.5, 0.5])
test = rng.uniform(-1, 1, size=(20_000, 4))
truth = np.digitize(np.sin(3 * test[:, 0]) + test[:, 1] * test[:, 2], [-0.5, 0.5])

sizes, errors, seconds = [25, 75, 150], [], []
for m in sizes:
    start = time.perf_counter()
    machine = OneLSM(sigma=0.7, gamma=1e-3, solver="nystrom", n_landmarks=m).fit(X, y)
    seconds.append(time.perf_counter() - start)
    errors.append(100 * (machine.predict(test) != truth).mean())
    print(f"{m:4d} landmarks: {seconds[-1]:5.1f} s, error {errors[-1]:.2f} %")

# %%
# More landmarks, more time, fewer mistakes.
fig, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
axis.plot(seconds, errors, "o-")
for m, s, e in zip(sizes, seconds, errors):
    axis.annotate(f"{m} landmarks", (s, e), textcoords="offset points", xytext=(6, 4))
axis.set(xlabel="seconds to fit a million rows", ylabel="error in percent")
plt.show()
