"""All conformance checks by name, and `check_bandit`, which runs them."""

from collections.abc import Callable, Iterable

from rankduel.testing import contract, learning, snapshots, traces
from rankduel.testing.fixtures import Factory

__all__ = ["CHECKS", "Check", "Factory", "check_bandit"]

Check = Callable[[Factory], None]

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        contract.legal_arms,
        contract.few_arms,
        contract.counters,
        contract.alive_champion_winner,
        contract.ties_and_self_duels,
        contract.wrong_duels,
        contract.wrong_outcomes,
        contract.wrong_arguments,
        contract.repr_round_trips,
        traces.same_seed,
        traces.different_seeds,
        traces.live_is_compiled,
        traces.late_tells,
        traces.adopted,
        snapshots.snapshot_and_continue,
        snapshots.snapshot_keeps_pending,
        snapshots.copies,
        snapshots.restore_refuses,
        learning.beats_uniform,
        learning.late_tells_still_teach,
        learning.flipped,
        learning.relabelling,
    )
}


def check_bandit(factory: Factory, *, skip: Iterable[str] = ()) -> None:
    """Run all checks except those named in `skip`. One AssertionError lists all failures.

    >>> import rankduel as rd
    >>> check_bandit(lambda n_arms, *, seed: rd.MergeRUCB(n_arms, batch_size=4, seed=seed))
    """
    skip = set(skip)
    if unknown := skip - CHECKS.keys():
        raise ValueError(f"unknown checks in skip: {', '.join(sorted(unknown))}; known checks: {', '.join(CHECKS)}")
    failures = []
    for name, check in CHECKS.items():
        if name in skip:
            continue
        try:
            check(factory)
        except Exception as error:
            reason = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            failures.append(f"{name}: {reason}")
    if failures:
        raise AssertionError(f"{len(failures)} of {len(CHECKS) - len(skip)} checks failed\n" + "\n".join(failures))
