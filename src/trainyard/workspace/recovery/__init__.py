"""Recover from a killed command: find objects that were created but are not in the state.

A killed engine leaves an entry in the state for every create that it had started
(`pending_operations`), with the inputs that the provider had already checked and named. It is
unknown whether AWS completed the create. The object is looked up in the account and written into
the state; if it does not exist, the entry is removed. `table` says how each type is looked up.
"""
