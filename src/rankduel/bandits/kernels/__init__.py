"""Compiled parts that several bandits share; none of them is a bandit.

Evidence (`certificate`), records of pairs (`pair_table`, `pair_posterior`), Thompson sampling (`thompson`,
`thompson_skipping`, `coin_words`, `sampled_tournament`), weights (`exp_weights`, `tsallis`), and ratings with their
samples (`ratings`, `active_arms`, `sample_trees`).
"""
