"""The sandbox from the command line: starting it, its faults and its pace."""
