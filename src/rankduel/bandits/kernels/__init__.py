"""Compiled parts of bandits.

- Evidence: `certificate`.
- Records of pairs: `pair_table`, `pair_posterior`.
- Thompson sampling: `thompson`, `thompson_skipping`, `coin_words`, `sampled_tournament`.
- Weights of arms: `exp_weights`, `tsallis`.
- Ratings and their samples: `ratings`, `active_arms`, `sample_trees`.
"""
