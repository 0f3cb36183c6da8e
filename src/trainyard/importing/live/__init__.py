"""Read clusters of an account.

The answers of the API become a document, which a conversion reads like a file: the keys of its root
are the calls. Only calls that read are made.
"""
