"""The source of `pulumi-resource-aws`: public Go modules, cut down to what the sandbox runs.

The Terraform provider for AWS has more than 250 services, and Go cannot leave out a package that
another one imports. So the plugin is built from copies of three modules:

- the Terraform provider with the packages of `SERVICES` only, and with its waits divided
  (`WAIT_DIVISOR`), because the emulated account does in milliseconds what the provider polls for
  every 30 seconds, and an injected fault is retried after up to 5 minutes;
- Pulumi's bridge without its schema generator, which a running plugin never calls;
- the retry helper of the plugin SDK, for the same division.

Nothing else is edited: validation, defaults, differences, replacement, retries and the order of
calls are the provider's own.
"""

import re
from pathlib import Path

from trainyard.sandbox.engine.go_source import Source, SourceModule, fetched, imports

SERVICES = frozenset(
    {
        "amp",
        "autoscaling",
        "batch",
        "cloudformation",
        "cloudwatch",
        "ec2",
        "ecr",
        "eks",
        "elb",  # every Auto Scaling group asks for its client
        "elbv2",  # likewise
        "events",
        "fsx",
        "iam",
        "logs",
        "meta",
        "ram",
        "resourcegroups",
        "s3",
        "s3control",  # tags of buckets
        "scheduler",
        "sns",
        "ssm",
        "sts",
    }
)
"""Services of the Terraform provider whose resources the stacks use, by its package names."""


TERRAFORM_PROVIDER = SourceModule(
    # The fork that Crossplane's provider imports; of hashicorp's own module, the proxies serve
    # version 1 only. Release 6.34.0.
    path="github.com/upbound/terraform-provider-aws",
    version="v0.0.0-20260305123303-f7691456b787",
    hash="h1:dJlp2eNgY/iVKTPINdguYlHbHc9CtXBZKmQmqYq0REs=",
    declared_path="github.com/hashicorp/terraform-provider-aws",
    roots=("xpprovider",),
)
BRIDGE = SourceModule(
    path="github.com/pulumi/pulumi-terraform-bridge/v3",
    version="v3.135.0",
    hash="h1:HdWLOo8drGbQpu8IsLCy+PWVHT50aSk7eI00vqyM4ns=",
    declared_path="github.com/pulumi/pulumi-terraform-bridge/v3",
    roots=(
        "pkg/pf/tfbridge",
        "pkg/tfbridge",
        "pkg/tfshim",
        "pkg/tfshim/sdk-v2",
        "pkg/x/muxer",
        "unstable/metadata",
    ),
)
RETRY_HELPER = SourceModule(
    path="github.com/pulumi/terraform-plugin-sdk/v2",
    version="v2.0.0-20260318212141-5525259d096b",
    hash="h1:efoz3DmFhw7EPJ3JxVfWYwpg5Dl6QTLvzMV0a7Y7mlo=",
    declared_path="github.com/hashicorp/terraform-plugin-sdk/v2",
    roots=("helper/retry",),
)

WAIT_DIVISOR = "TRAINYARD_WAITS"
"""Environment variable by which the plugin divides every wait of the provider; 1 where unset."""

_AWS_SDK = "github.com/aws/aws-sdk-go-v2/service/"
_WAITS = "internal/waits"
_WAITS_SOURCE = f"""// Package waits divides the time between two looks at the account.
package waits

import (
	"os"
	"strconv"
	"time"
)

var divisor = func() time.Duration {{
	if n, err := strconv.Atoi(os.Getenv("{WAIT_DIVISOR}")); err == nil && n > 0 {{
		return time.Duration(n)
	}}
	return 1
}}()

// Divided returns how long to wait instead of d.
func Divided(d time.Duration) time.Duration {{
	return d / divisor
}}
"""
_NO_TAG_POLICIES = """package tagpolicy

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	tftags "github.com/hashicorp/terraform-provider-aws/internal/tags"
)

func GetRequiredTags(context.Context, aws.Config) (map[string]tftags.KeyValueTags, error) {
	return nil, nil
}
"""


def write_sources(target: Path, go: str) -> None:
    """Write the copies into `target`, each in a directory with the last part of its name.

    `target/terraform-provider-aws` and `target/pulumi-terraform-bridge` are what the `go.mod` of
    the plugin names as `../terraform-provider-aws` and `../pulumi-terraform-bridge`.

    Args:
        target: A directory that exists.
        go: The `go` command.

    Raises:
        EngineError: a module cannot be fetched, is not the pinned one, or is not as expected.
    """
    provider = Source(TERRAFORM_PROVIDER, fetched(TERRAFORM_PROVIDER, go))
    bridge = Source(BRIDGE, fetched(BRIDGE, go))
    retry = Source(RETRY_HELPER, fetched(RETRY_HELPER, go))
    _keep_services(provider)
    _divide_waits(provider, retry)
    _drop_unused_clients(provider)
    provider.copy(target / "terraform-provider-aws")
    _drop_schema_generator(bridge)
    bridge.copy(target / "pulumi-terraform-bridge")


def _keep_services(provider: Source) -> None:
    listing = "internal/provider/sdkv2/service_packages_gen.go"
    own = f"{TERRAFORM_PROVIDER.declared_path}/internal/service/"

    def kept(match: re.Match[str]) -> str:
        return match[0] if match[1] in SERVICES else ""

    provider.substitute(listing, rf'\t"{own}([a-z0-9]+)"\n', kept)
    provider.substitute(listing, r"\t\t([a-z0-9]+)\.ServicePackage\(ctx\),\n", kept)
    # What would bring packages of other services: an API Gateway helper, filters of services that
    # are left out, the tag policies of an organization, error texts that no kept service has.
    clients = "internal/conns/awsclient.go"
    provider.substitute(clients, r'\tapigatewayv2_types "[^"]+"\n', lambda _: "", once=True)
    provider.replace(clients, "protocolType apigatewayv2_types.ProtocolType", "protocolType string")
    provider.replace(clients, "apigatewayv2_types.ProtocolTypeWebsocket", '"WEBSOCKET"')
    filters = "internal/namevaluesfilters/service_filters_gen.go"
    provider.write(filters, "package namevaluesfilters\n")
    provider.write("internal/tags/tagpolicy/required_tags.go", _NO_TAG_POLICIES)
    services = provider.directory / "internal" / "service"
    if not any((services / name / "smarterr.hcl").exists() for name in SERVICES):
        provider.replace("internal/embed.go", "//go:embed service/*/smarterr.hcl\n", "")


def _divide_waits(provider: Source, retry: Source) -> None:
    own, helper = TERRAFORM_PROVIDER.declared_path, "internal/sdkretry"
    provider.write(f"{_WAITS}/waits.go", _WAITS_SOURCE)
    backoff = "internal/backoff/backoff.go"
    provider.replace(backoff, "time.After(d)", "time.After(waits.Divided(d))")
    provider.replace(
        backoff, 'import (\n\t"context"\n', f'import (\n\t"context"\n\t"{own}/{_WAITS}"\n'
    )
    delayer = "internal/conns/backoff_delayer.go"
    provider.replace(delayer, "return delay, nil", "return waits.Divided(delay), nil")
    provider.replace(
        delayer, 'import (\n\t"crypto/rand"\n', f'import (\n\t"{own}/{_WAITS}"\n\t"crypto/rand"\n'
    )
    state = "helper/retry/state.go"
    retry.replace(state, "time.After(conf.Delay)", "time.After(waits.Divided(conf.Delay))")
    retry.replace(state, "time.After(wait)", "time.After(waits.Divided(wait))")
    retry.replace(state, 'import (\n\t"context"\n', f'import (\n\t"context"\n\t"{own}/{_WAITS}"\n')
    for path in retry.files("helper/retry"):
        provider.write(f"{helper}/{Path(path).name}", retry.read(path))
    old = f'"{RETRY_HELPER.declared_path}/helper/retry"'
    for package in provider.packages():
        for path in provider.files(package):
            if old in provider.read(path):
                provider.replace(path, old, f'"{own}/{helper}"')


def _drop_unused_clients(provider: Source) -> None:
    """Leave out the accessors of SDK clients that no kept package calls, and their SDKs."""
    accessors = "internal/conns/awsclient_gen.go"
    everything = provider.read(accessors)
    provider.write(accessors, "package conns\n")
    called: set[str] = set()
    linked: set[str] = set()
    for package in provider.packages():
        for path in provider.files(package):
            text = provider.read(path)
            called |= set(re.findall(r"\.([A-Za-z0-9]+Client)\(ctx\)", text))
            linked |= {
                name.removeprefix(_AWS_SDK).split("/")[0]
                for name in imports(text)
                if name.startswith(_AWS_SDK)
            }
    provider.write(accessors, everything)
    used: set[str] = set()

    def accessor(match: re.Match[str]) -> str:
        if match[2] not in linked or match[1] not in called:
            return ""
        used.add(match[2])
        return match[0]

    function = (
        r"func \(c \*AWSClient\) (\w+)\(ctx context\.Context\) \*(\w+)\.Client \{\n.*?\n\}\n\n?"
    )
    provider.substitute(accessors, function, accessor)
    provider.substitute(
        accessors,
        rf'\t(?:(\w+) )?"{_AWS_SDK}([a-z0-9]+)"\n',
        lambda match: match[0] if (match[1] or match[2]) in used else "",
    )
    provider.substitute(
        "go.mod",
        rf"\t{_AWS_SDK}(\S+) \S+( // indirect)?\n",
        lambda match: match[0] if match[1].split("/")[0] in linked else "",
    )


def _drop_schema_generator(bridge: Source) -> None:
    # The one file of the running plugin that imports the generator, for a function that mixes
    # providers; without it, converters of other languages' programs are not required either.
    bridge.write("pkg/pf/tfbridge/provider_mux.go", "")
    converters = r"\tgithub\.com/pulumi/pulumi-(?:dotnet|java|yaml)\S* \S+(?: // indirect)?\n"
    bridge.substitute("go.mod", converters, lambda _: "")
