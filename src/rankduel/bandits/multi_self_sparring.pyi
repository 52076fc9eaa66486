from rankduel.bandits.multi_bandit import MultiBandit

class MultiSelfSparring(MultiBandit):
    def __init__(self, n_arms: int, *, arms_per_duel: int = 4, seed: int | None = None) -> None: ...
