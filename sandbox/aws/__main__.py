"""Runs the AWS endpoint alone: `python -m trainyard.sandbox.aws --port 5599`; Ctrl-C ends it.

It prints the variables with which AWS clients use it, which contain its access key.
"""

from __future__ import annotations

import argparse

from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.processes import requests_to_end


def main() -> None:
    """Serve until the process is asked to end."""
    parser = argparse.ArgumentParser(prog="python -m trainyard.sandbox.aws", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0: any free one")
    parser.add_argument("--region", default="us-west-2")
    arguments = parser.parse_args()
    signals = requests_to_end()
    with AwsServer(region=arguments.region, port=arguments.port) as server:
        for line in server.access.exports():
            print(line, flush=True)  # noqa: T201 - what the caller waits for
        signals.get()


if __name__ == "__main__":
    main()
