"""What `frontload report` shows: one document made from recorded starts, and its pictures.

recorded.py reads what `frontload faults` wrote, model.py makes the document (its docstring is the
declaration of the format), pictures.py draws it. What the document says of bytes comes from
accounting.py, touched.py and waste.py; of time and causes from events.py; its advice from
advice.py.
"""
