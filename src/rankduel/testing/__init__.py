"""Conformance suite: check that your own bandit works with `ask`, `tell`, snapshots and simulations.

>>> import rankduel as rd
>>> from rankduel.testing import check_bandit
>>> check_bandit(rd.RUCB)

In pytest, one test per check:

    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    def test_my_bandit(check):
        check(MyBandit)

A check takes a factory, `factory(n_arms, seed=seed) -> Bandit`: a class, or a function that sets parameters. If the
bandit fails, the check raises AssertionError with the reason. Some checks are statistical. They use fixed seeds, and a
correct bandit fails each with probability at most 1e-6. If your bandit breaks a rule on purpose, skip its check:

>>> check_bandit(rd.Uniform, skip=["beats_uniform", "late_tells_still_teach"])
"""

from rankduel.testing.suite import CHECKS, Check, Factory, check_bandit

__all__ = ["CHECKS", "Check", "Factory", "check_bandit"]
