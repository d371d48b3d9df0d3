"""Documents read again and again: C code that makes objects, as pyperformance's json_loads."""

import json

ROW = {"name": "frontload", "numbers": list(range(40)), "share": 0.125, "nested": {"a": [None] * 9}}
TEXTS = [json.dumps(document) for document in ({}, ROW, [ROW] * 30, {str(i): i for i in range(99)})]
total = 0
for _ in range(400):
    for text in TEXTS:
        total += len(json.loads(text))
print(total)
