"""What a check has found, a line each."""

from collections.abc import Iterable

from rankduel.live.admin.findings import Finding

__all__ = ["report"]


def report(findings: Iterable[Finding]) -> int:
    """Print findings as they come; the exit code, 1 if one is an error."""
    code = 0
    for level, about, told in findings:
        print(f"{level:8} {about}: {told}", flush=True)
        code |= level == "error"
    return code
