"""The conformance suite: is a bandit of yours what `ask`, `tell`, snapshots and simulations expect of every bandit?

>>> import rankduel as rd
>>> from rankduel.testing import check_bandit
>>> check_bandit(rd.RUCB)

In pytest, one test per check:

    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    def test_my_bandit(check):
        check(MyBandit)

A check takes a factory, `factory(n_arms, seed=seed) -> Bandit`: a class, or a function that fills in parameters. It
raises AssertionError and says what went wrong. Some checks are statistical: with fixed seeds, and a false-alarm rate
of at most 1e-6 for a bandit that is right. A bandit that is meant to break a rule leaves it out by name:

>>> check_bandit(rd.Uniform, skip=["beats_uniform", "late_tells_still_teach"])
"""

from rankduel.testing.suite import CHECKS, Check, Factory, check_bandit

__all__ = ["CHECKS", "Check", "Factory", "check_bandit"]
