"""`network`."""

from typer.testing import CliRunner

from trainyard.cli.app import app


def test_the_network_of_the_cheapest_cluster_is_new():
    assert CliRunner().invoke(app, ["network", "dev"]).stdout == "new-vpc\n"
