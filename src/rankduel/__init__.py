"""rankduel: find the best of hundreds of rankers from duels, with as little harm as possible."""
