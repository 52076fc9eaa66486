"""Find the best of a hundred prompts with a judge that compares two answers: `python examples/prompts.py`.

The loop uses `ask` and `tell`: the bandit chooses two prompts, a judge compares their answers to one question, and the
bandit learns the outcome. It stops when one prompt is left, when the remaining prompts are equal within the tolerance,
or when the budget is spent. The stated confidence holds in all three cases.

Replace `judge` by a call to your language model. Here it is simulated, with the two known faults of such judges: it is
noisy, and it prefers the answer that it reads first.
"""

import argparse
from dataclasses import dataclass

import numpy as np

import rankduel as rd

N_PROMPTS, N_QUESTIONS = 100, 500
PROMPTS = [f"prompt-{number:03}" for number in range(N_PROMPTS)]
QUESTIONS = [f"question-{number:03}" for number in range(N_QUESTIONS)]
PRICE_IN, PRICE_OUT = 0.40e-6, 1.60e-6  # dollars per input token and per output token
TOLERANCE = 0.05  # two prompts are equal if each wins 45 to 55 % of their duels


@dataclass
class Bill:
    """Cost of the judge so far."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def dollars(self) -> float:
        """Total cost at the prices above."""
        return PRICE_IN * self.tokens_in + PRICE_OUT * self.tokens_out


def judge(question: str, read_first: str, read_second: str, bill: Bill) -> str:
    """Decide which prompt has the better answer to a question: "first", "second" or "tie", in the order of reading.

    A real judge sends the question and both answers to a language model, parses the verdict, and adds the `usage` of
    the response to the bill. Generate the answer of each prompt to each question once, and cache it.
    """
    lead = good_at(question, read_first) - good_at(question, read_second)
    first = lead + FIRST_IS_FAVOURED + SIMULATED.logistic(scale=0.5)
    bill.calls += 1
    bill.tokens_in += 150 + int(SIMULATED.integers(200, 600))  # instructions, question and two answers
    bill.tokens_out += 5
    return "tie" if abs(first) < 0.05 else "first" if first > 0 else "second"


def compare(question: str, one: str, other: str, bill: Bill) -> rd.Outcome:
    """Ask the judge in both orders to cancel its position bias. A prompt must win both times, else it is a tie."""
    verdicts = judge(question, one, other, bill), judge(question, other, one, bill)
    if verdicts == ("first", "second"):
        return rd.Outcome.FIRST
    return rd.Outcome.SECOND if verdicts == ("second", "first") else rd.Outcome.TIE


def find_best(budget: float, seed: int) -> tuple[rd.CertifiedSparring, Bill]:
    """Compare prompts until there is a decision or the budget (in dollars) is spent."""
    bandit, bill = rd.CertifiedSparring(N_PROMPTS, delta=0.05, tolerance=TOLERANCE, seed=seed), Bill()
    random = np.random.default_rng(seed)
    while bandit.winner is None and not bandit.tied and bill.dollars < budget:
        duel = bandit.ask()
        question = QUESTIONS[random.integers(N_QUESTIONS)]
        bandit.tell(duel, compare(question, PROMPTS[duel.first], PROMPTS[duel.second], bill))
        if bandit.told % 1000 == 0:
            print(f"{bandit.told:6,} duels, {bandit.n_alive:3} prompts left, ${bill.dollars:.2f}")
    return bandit, bill


# The simulated truth: the mean quality of each prompt, and its deviation on each question.
SIMULATED = np.random.default_rng(1)
FIRST_IS_FAVOURED = 0.4
QUALITY = dict(zip(PROMPTS, SIMULATED.normal(scale=0.7, size=N_PROMPTS), strict=True))
LUCK = SIMULATED.normal(scale=0.5, size=(N_QUESTIONS, N_PROMPTS))


def good_at(question: str, prompt: str) -> float:
    """Return the quality of the answer of a prompt to a question."""
    return QUALITY[prompt] + LUCK[QUESTIONS.index(question), PROMPTS.index(prompt)]


def main() -> None:
    """Find the best prompt, print the cost, and compare the result with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--budget", type=float, default=10.0, help="budget in dollars (default: %(default)s)")
    options = parser.parse_args()

    bandit, bill = find_best(options.budget, seed=1)
    left = [PROMPTS[arm] for arm in bandit.alive]
    print(bandit.decision())
    print(f"{bill.calls:,} calls, {bill.tokens_in + bill.tokens_out:,} tokens, ${bill.dollars:.2f}")
    print(f"A round robin with 100 questions per pair would cost ${bill.dollars / bill.calls * 4950 * 100 * 2:,.0f}.")
    print(f"Left: {', '.join(left[:10])}{' ...' if len(left) > 10 else ''}")
    ranked = sorted(PROMPTS, key=QUALITY.__getitem__, reverse=True)
    print(f"In truth, the best are {', '.join(ranked[:3])}.")
    print(f"{PROMPTS[bandit.champion]}, the champion, has rank {1 + ranked.index(PROMPTS[bandit.champion])}.")


if __name__ == "__main__":
    main()
