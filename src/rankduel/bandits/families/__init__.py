"""Base classes of related bandits.

- `eliminating`: certified elimination as an option (DTS, SelfSparring, Uniform).
- `optimistic`: upper confidence bounds of pairs (DTS, RUCB).
- `merging`: batches (MergeDTS, MergeRUCB).
- `multi_optimistic`: upper confidence bounds of pairs, for sets of arms (MultiUCB, MDB).
"""
