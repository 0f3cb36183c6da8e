"""Take up what a killed command left: objects that were made and that the state does not know.

An engine that is killed leaves a line in the state for every create that it had begun
(`pending_operations`), with the inputs that the provider had already checked and named. Nobody
knows whether AWS did the work. The object is looked up in the account and written into the state,
or the line is dropped where there is none. What is looked up how: `table`.
"""
