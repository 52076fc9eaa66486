from rankduel.simulation.search_world import SearchWorld
from rankduel.simulation.worlds import World

class Users(World):
    def __init__(self, problem: SearchWorld, seed: int) -> None: ...
