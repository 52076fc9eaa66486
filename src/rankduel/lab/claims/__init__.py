"""Claims of the paper's Sections 3 to 6. A function judges each claim, from the stored results alone.

Each research question has a file here, with the name of its spec in `lab/paper`.
"""

from collections.abc import Mapping

from rankduel.lab.claims import rq1, rq2, rq3, rq4, rq5, rq6, rq7, theory
from rankduel.lab.claims.theory import theorem
from rankduel.lab.judging import Claim, Evidence, Verdict
from rankduel.lab.measurements import Measured

__all__ = ["CLAIMS", "judge", "theorem"]

CLAIMS = tuple(claim for question in (rq1, rq2, rq3, rq4, rq5, rq6, rq7, theory) for claim in question.CLAIMS)


def judge(studied: Mapping[str, Mapping[str, Measured]]) -> dict[Claim, Verdict]:
    """Judge every claim of the questions that were run. `studied` is {question: {part: measured}}."""
    evidence = Evidence(studied)
    return {claim: claim.verdict(evidence) for claim in CLAIMS if claim.question in studied}
