"""The document of `frontload report`, made from recorded starts, and its page.

recorded.py reads the output of `frontload faults`, model.py makes the document (its docstring
declares the format), page.py shows it. The document's bytes come from accounting.py and touched.py,
times and causes from events.py, and advice from advice.py.
"""
