"""Read configurations of other tools, and write them as stack files.

A format is one folder: the keys of its schema (`keys.txt`), what becomes of the keys that the
conversion does not read (`outcomes.txt`), and the conversion (`conversion.py`). `formats.py` has
one row for each. Nothing but the commands `import` and `lint` imports this package.
"""
