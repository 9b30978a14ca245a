"""LaTeX, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PDFLATEX = shutil.which("pdflatex")
_HEAD = r"\documentclass{article}\usepackage[margin=1cm]{geometry}\usepackage{booktabs,longtable}"


def compile_latex(tables: Sequence[str], folder: Path) -> None:
    """Compile tables as one document; what TeX complains of is shown."""
    body = "\n".join(tables)
    (folder / "all.tex").write_text(f"{_HEAD}\\begin{{document}}{body}\\end{{document}}", encoding="utf-8")
    command = [str(PDFLATEX), "-halt-on-error", "-interaction=nonstopmode", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-800:]
    assert (folder / "all.pdf").stat().st_size > 1000
