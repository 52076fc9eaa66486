"""Base classes of related bandits.

`eliminating` (certified elimination as an option), `optimistic` (upper confidence bounds of pairs: DTS, RUCB),
`merging` (batches: MergeDTS, MergeRUCB) and `multi_optimistic` (sets of arms: MultiUCB, MDB).
"""
