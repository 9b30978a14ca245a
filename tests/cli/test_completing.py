"""What a shell completes, asked as bash asks it; no answer needs the libraries of learning."""

import json
import subprocess
import sys

ASKED = {
    "mcls machines oneL": ["oneLSM"],
    "mcls fit mine.csv --machine au": ["auto"],
    "mcls compare oneLSM voS": ["voSVM"],
    "mcls data show vow": ["vowel"],
    "mcls compare oneLSM ovA --dataset m": ["mine.csv"],
    "mcls run iri": ["iris"],
    "mcls run configs/o": ["configs/own.yaml"],
    "mcls export m": ["mine"],
    "mcls tables noumir2011-p": ["noumir2011-pavia"],
    "mcls tables kesh": ["keshet2014"],
    "mcls plot ranks mine --dataset gla": ["glass"],
}
SCRIPT = """
import contextlib, io, json, os, sys
from mcls.cli.app import main
os.environ["_MCLS_COMPLETE"] = "complete_bash"
answers = {}
for line in json.load(sys.stdin):
    os.environ |= {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main([])
    answers[line] = out.getvalue().split()
heavy = [name for name in ("sklearn", "scipy.stats", "cvxpy", "osqp", "matplotlib") if name in sys.modules]
json.dump([answers, heavy], sys.stdout)
"""


def test_a_shell_completes_names(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "own.yaml").touch()
    (tmp_path / "mine.csv").touch()
    (tmp_path / "results" / "mine").mkdir(parents=True)
    (tmp_path / "results" / "mine" / "plan.json").touch()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(list(ASKED)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    answers, heavy = json.loads(done.stdout)
    assert heavy == []
    assert answers == ASKED
