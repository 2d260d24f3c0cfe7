"""Reports: a package for the pages of each kind of question, above one for the formats that are made from a page.

The packages are the doors; this one holds nothing.
"""
