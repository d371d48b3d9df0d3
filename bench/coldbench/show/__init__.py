"""What people see of a result: the JSON, and the tables made from it."""
