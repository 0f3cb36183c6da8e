"""Why a stack is not what it should be: what account, cluster and engine say, put into words."""
