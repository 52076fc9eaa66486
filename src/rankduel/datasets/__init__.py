"""Collections of queries, documents and rankers: the only room that reads corpora."""
