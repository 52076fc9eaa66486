"""Print the findings of `rankduel doctor` and `rankduel storage verify`."""

from collections.abc import Iterable

from rankduel.live.admin.findings import Finding

__all__ = ["print_findings"]


def print_findings(findings: Iterable[Finding]) -> int:
    """Print findings as they come; return the exit code, 1 if one is an error."""
    code = 0
    for level, about, text in findings:
        print(f"{level:8} {about}: {text}", flush=True)
        code |= level == "error"
    return code
