"""The result for people: the JSON, and the tables made from it."""
