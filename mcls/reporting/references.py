"""BibTeX of what a study used: methods, tests, data sets and software."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: What a reference or a sentence says → BibTeX entry.
_ENTRIES: dict[str, str] = {
    "honeine2013": """@article{honeine2013,
  author = {Honeine, Paul and Noumir, Zineb and Richard, C{\\'e}dric},
  title = {Multiclass classification machines with the complexity of a single binary classifier},
  journal = {Signal Processing}, volume = {93}, number = {5}, pages = {1013--1026}, year = {2013},
  doi = {10.1016/j.sigpro.2012.11.009}
}""",
    "noumir2011": """@inproceedings{noumir2011,
  author = {Noumir, Zineb and Honeine, Paul and Richard, C{\\'e}dric},
  title = {Multi-class least squares classification at binary-classification complexity},
  booktitle = {IEEE Workshop on Statistical Signal Processing}, year = {2011}
}""",
    "xue2013": """@article{xue2013,
  author = {Xue, Hui and Chen, Songcan},
  title = {Orthogonality-based label correction in multi-class classification},
  journal = {Electronics Letters}, year = {2013}
}""",
    "arvanitopoulos": """@inproceedings{arvanitopoulos2010,
  author = {Arvanitopoulos, Nikolaos and Bouzas, Dimitrios and Tefas, Anastasios},
  title = {Subclass error correcting output codes using {Fisher}'s linear discriminant ratio},
  booktitle = {20th International Conference on Pattern Recognition}, year = {2010}
}""",
    "keshet2014": """@misc{keshet2014,
  author = {Keshet, Yossi}, title = {Multiclass classification}, note = {Lecture notes}, year = {2014}
}""",
    "Allwein et al. 2000": """@article{allwein2000,
  author = {Allwein, Erin L. and Schapire, Robert E. and Singer, Yoram},
  title = {Reducing multiclass to binary: a unifying approach for margin classifiers},
  journal = {Journal of Machine Learning Research}, volume = {1}, pages = {113--141}, year = {2000}
}""",
    "Escalera et al. 2008": """@article{escalera2008,
  author = {Escalera, Sergio and Tax, David M. J. and Pujol, Oriol and Radeva, Petia and Duin, Robert P. W.},
  title = {Subclass problem-dependent design for error-correcting output codes},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence}, volume = {30}, number = {6},
  pages = {1041--1054}, year = {2008}
}""",
    "Hsu & Lin 2002": """@article{hsu2002,
  author = {Hsu, Chih-Wei and Lin, Chih-Jen},
  title = {A comparison of methods for multiclass support vector machines},
  journal = {IEEE Transactions on Neural Networks}, volume = {13}, number = {2}, pages = {415--425}, year = {2002}
}""",
    "Platt et al. 2000": """@inproceedings{platt2000,
  author = {Platt, John C. and Cristianini, Nello and Shawe-Taylor, John},
  title = {Large margin {DAGs} for multiclass classification},
  booktitle = {Advances in Neural Information Processing Systems 12}, pages = {547--553}, year = {2000}
}""",
    "Weston & Watkins 1999": """@inproceedings{weston1999,
  author = {Weston, Jason and Watkins, Chris},
  title = {Support vector machines for multi-class pattern recognition},
  booktitle = {European Symposium on Artificial Neural Networks}, pages = {219--224}, year = {1999}
}""",
    "Crammer & Singer 2002": """@article{crammer2001,
  author = {Crammer, Koby and Singer, Yoram},
  title = {On the algorithmic implementation of multiclass kernel-based vector machines},
  journal = {Journal of Machine Learning Research}, volume = {2}, pages = {265--292}, year = {2001}
}""",
    "Huang et al. 2012": """@article{huang2012,
  author = {Huang, Guang-Bin and Zhou, Hongming and Ding, Xiaojian and Zhang, Rui},
  title = {Extreme learning machine for regression and multiclass classification},
  journal = {IEEE Transactions on Systems, Man, and Cybernetics, Part B}, volume = {42}, number = {2},
  pages = {513--529}, year = {2012}
}""",
    "sklearn": """@article{pedregosa2011,
  author = {Pedregosa, F. and Varoquaux, G. and Gramfort, A. and Michel, V. and Thirion, B. and Grisel, O. and
            Blondel, M. and Prettenhofer, P. and Weiss, R. and Dubourg, V. and Vanderplas, J. and Passos, A. and
            Cournapeau, D. and Brucher, M. and Perrot, M. and Duchesnay, E.},
  title = {Scikit-learn: machine learning in {Python}},
  journal = {Journal of Machine Learning Research}, volume = {12}, pages = {2825--2830}, year = {2011}
}""",
    "5×2cv F-test": """@article{alpaydin1999,
  author = {Alpayd{\\i}n, Ethem},
  title = {Combined 5 $\\times$ 2 cv {F} test for comparing supervised classification learning algorithms},
  journal = {Neural Computation}, volume = {11}, number = {8}, pages = {1885--1892}, year = {1999}
}""",
    "corrected resampled t-test": """@article{nadeau2003,
  author = {Nadeau, Claude and Bengio, Yoshua},
  title = {Inference for the generalization error},
  journal = {Machine Learning}, volume = {52}, number = {3}, pages = {239--281}, year = {2003}
}""",
    "Holm": """@article{holm1979,
  author = {Holm, Sture},
  title = {A simple sequentially rejective multiple test procedure},
  journal = {Scandinavian Journal of Statistics}, volume = {6}, number = {2}, pages = {65--70}, year = {1979}
}""",
    "Nemenyi": """@article{demsar2006,
  author = {Dem{\\v{s}}ar, Janez},
  title = {Statistical comparisons of classifiers over multiple data sets},
  journal = {Journal of Machine Learning Research}, volume = {7}, pages = {1--30}, year = {2006}
}""",
}


def bibtex(texts: Iterable[str], citations: dict[str, str], version: str) -> str:
    """Entries of everything that the texts name, of the data sets (name → citation), and of mcls itself."""
    said = "\n".join(texts)
    entries = [entry for key, entry in _ENTRIES.items() if re.search(rf"(?<!\w){re.escape(key)}", said)]
    for name, citation in citations.items():
        key = re.sub(r"\W+", "-", f"data-{name}")
        entries.append(f"@misc{{{key},\n  title = {{Data set {name}}},\n  note = {{{_escaped(citation)}}}\n}}")
    entries.append(
        f"@software{{mcls,\n  author = {{{{The mcls developers}}}},\n  title = {{mcls: multiclass kernel least-squares "
        f"classification}},\n  version = {{{version}}}\n}}"
    )
    return "\n\n".join(entries) + "\n"


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", " ".join(text.split()).replace("{", "(").replace("}", ")"))
