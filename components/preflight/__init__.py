"""What `./trainyard check --live` asks the account beyond what the program itself must know.

Nothing here changes anything in AWS, and the program does not depend on it: a caller who may run
`up` need not be allowed all of these questions, and what may not be asked is said and skipped.
"""
