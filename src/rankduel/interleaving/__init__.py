"""Two or more rankers share one page: build the list that a user sees, and credit the clicks."""
