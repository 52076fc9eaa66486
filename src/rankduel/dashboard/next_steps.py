"""What to do next with a tournament: roll out, A/B test, run longer, each with its reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankduel.dashboard.comparisons import Comparison
from rankduel.dashboard.progress import progress
from rankduel.live import LiveDecision, View

__all__ = ["NextStep", "next_steps"]

_DUELS_ARE_NO_REVENUE = (
    "Duels measure which results users click. An A/B test measures what you may care about more, such as revenue."
)


@dataclass(frozen=True, slots=True)
class NextStep:
    """An advice: what to do, and why."""

    action: str
    reason: str


def next_steps(view: View, found: LiveDecision, comparisons: Sequence[Comparison], *, reached: bool) -> list[NextStep]:
    """Return what to do next, the most important step first.

    `reached` says whether a decision is reached with its confidence.
    """
    baseline = next((one for one in comparisons if "baseline" in one.roles), None)
    if view.status == "archived":
        steps = _archived()
    elif view.status == "draft":
        steps = _draft()
    elif view.status == "paused":
        steps = _paused()
    elif view.status == "rolled_out":
        steps = _rolled_out()
    elif found.winner is None and not found.tied:
        steps = _undecided(view, found, baseline)
    elif found.delta is not None and not reached:
        steps = _in_doubt(found)
    elif found.tied:
        steps = _tied(view, found)
    else:
        steps = _won(view, found, baseline)
    return list(steps)


def _archived() -> Iterator[NextStep]:
    yield NextStep("Nothing to do", "The tournament is archived.")


def _draft() -> Iterator[NextStep]:
    yield NextStep("Start the tournament", "It is a draft, and plays no duels yet.")


def _paused() -> Iterator[NextStep]:
    yield NextStep(
        "Find out why the tournament is paused, then start or stop it",
        "Users see the baseline meanwhile, and nothing is learnt. The timeline has the reason.",
    )


def _rolled_out() -> Iterator[NextStep]:
    yield NextStep(
        "Watch the guardrails, then raise the share",
        "A guardrail that is crossed pauses the tournament, and users see the baseline again. If all is well, go from "
        "5 % to 50 % to 100 % of the traffic.",
    )
    yield NextStep("Archive the tournament when the winner is your new default", "The report stays available.")


def _undecided(view: View, found: LiveDecision, baseline: Comparison | None) -> Iterator[NextStep]:
    left = f"{len(found.left):,} of {found.tried - found.retired:,} rankers are left"
    leads = baseline is not None and baseline.win_share is not None and baseline.low > 0.5
    if found.stopped:
        yield NextStep(
            "Do not roll out on these results",
            f"The tournament was stopped before a decision: {left}, and the lead of {found.champion} may be chance.",
        )
        yield NextStep(
            "Start a new tournament with the rankers that are left",
            "The fewer rankers, the sooner it decides.",
        )
        if leads and baseline is not None:
            yield NextStep(f"Or A/B test {found.champion} against {baseline.rival}", baseline.sentence)
        return
    if not found.resolved:
        yield NextStep("Send traffic to the tournament", "It has no outcome yet.")
        return
    if not view.ends:
        yield NextStep(
            "Use a certified bandit to get a decision",
            f"{view.bandit} never decides. CertifiedSparring ends with a winner and a confidence.",
        )
        return
    so_far = progress(view)
    done = "" if so_far is None else f" Progress: {int(100 * so_far)} %."
    yield NextStep("Run longer", f"{left[:1].upper()}{left[1:]}, so there is no decision yet.{done}")
    if view.decision.confidence.tolerance is None and len(found.left) == 2:
        yield NextStep(
            "If the last two rankers are equally good to you, stop",
            "Two equal rankers would meet without end. With a tolerance, a tournament ends in a tie instead.",
        )


def _in_doubt(found: LiveDecision) -> Iterator[NextStep]:
    yield NextStep(
        "Do not roll out on this result alone",
        "The duels contradict that one ranker beats all others. Without such a ranker, the confidence does not hold.",
    )
    names = found.copeland or (found.champion,)
    yield NextStep(
        f"A/B test {_names(names)} against your present ranker", "Most pairs were won by " + _names(names) + "."
    )


def _tied(view: View, found: LiveDecision) -> Iterator[NextStep]:
    baseline = view.settings.baseline
    if baseline in found.tied:
        yield NextStep(
            f"Keep {baseline}",
            f"No ranker is better than the baseline by more than the tolerance of {found.tolerance:g}.",
        )
    else:
        yield NextStep(
            f"Choose the cheapest or fastest of {_names(found.tied)}, and roll it out",
            f"They are equally good within the tolerance of {found.tolerance:g}.",
        )


def _won(view: View, found: LiveDecision, baseline: Comparison | None) -> Iterator[NextStep]:
    winner, name = found.winner, view.settings.baseline
    if winner == name:
        yield NextStep(f"Keep {winner}", "The baseline is the best ranker, so there is nothing to roll out.")
        return
    if found.delta is None:
        yield NextStep(
            f"A/B test {winner} before you roll it out",
            f"{view.bandit} gives no guarantee. CertifiedSparring ends with a confidence.",
        )
        return
    certain = f"{winner} is the best ranker with the confidence above"
    in_steps = "Go in steps, such as 5 %, 50 % and 100 % of the traffic, with guardrails."
    if baseline is None and name is not None:
        yield NextStep(
            f"A/B test {winner} against {name}", f"{name} took part in no duel, so nothing is known about its results."
        )
    elif baseline is not None and not (baseline.win_share is not None and baseline.low > 0.5):
        yield NextStep(
            f"Roll out {winner} to a small share of the traffic",
            f"{certain}, so it is at least as good as {baseline.rival}. {in_steps}",
        )
        yield NextStep(
            f"A/B test {winner} against {baseline.rival} to learn how much better it is",
            "Their own duels, in the list below, are too few to tell. To collect more of them instead, set "
            "after_decision to compare.",
        )
    else:
        against = "" if baseline is None else f", and it beats the baseline {baseline.rival} in their own duels"
        yield NextStep(f"Roll out {winner}", f"{certain}{against}. {in_steps}")
        yield NextStep("A/B test it if clicks are not your goal", _DUELS_ARE_NO_REVENUE)


def _names(names: Sequence[str]) -> str:
    shown = list(names[:4]) + ([f"{len(names) - 4:,} more"] if len(names) > 4 else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
