// Command pulumi-resource-aws is the AWS provider of Pulumi for machines on which the official
// plugin cannot be downloaded: the same Terraform provider behind the same bridge, cut down to the
// services of the stacks. It serves sandboxes only and refuses to start towards anything else.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"os"

	"github.com/hashicorp/terraform-provider-aws/xpprovider"
	pftfbridge "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	sdkv2 "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim/sdk-v2"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/x/muxer"
	"github.com/pulumi/pulumi-terraform-bridge/v3/unstable/metadata"
)

// version is the version of pulumi-aws that the plugin takes the place of; the linker sets it.
var version = "0.0.0-dev"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "pulumi-resource-aws:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	log.SetOutput(io.Discard) // the debug log of the Terraform provider
	if len(os.Args) > 1 && os.Args[1] == "-describe" {
		info, err := provider(ctx)
		if err != nil {
			return err
		}
		return describe(info, os.Stdout)
	}
	if err := checkEndpoint(os.Getenv("AWS_ENDPOINT_URL")); err != nil {
		return err
	}
	info, err := provider(ctx)
	if err != nil {
		return err
	}
	schema, err := json.Marshal(map[string]any{"name": "aws", "version": version})
	if err != nil {
		return err
	}
	pftfbridge.MainWithMuxer(ctx, "aws", info, schema)
	return nil
}

// checkEndpoint makes sure that every AWS call ends on this machine.
func checkEndpoint(endpoint string) error {
	parsed, err := url.Parse(endpoint)
	if err == nil {
		if address := net.ParseIP(parsed.Hostname()); address != nil && address.IsLoopback() {
			return nil
		}
	}
	return fmt.Errorf(
		"this build serves sandboxes only, and AWS_ENDPOINT_URL is %q; it must be the address of a "+
			"sandbox on this machine (`./trainyard sandbox status` shows it)", endpoint)
}

// provider returns the Terraform provider as pulumi-aws presents it.
func provider(ctx context.Context) (tfbridge.ProviderInfo, error) {
	framework, sdk, err := xpprovider.GetProvider(ctx)
	if err != nil {
		return tfbridge.ProviderInfo{}, err
	}
	sdk.TerraformVersion = "1.0.0+compatible" // as pulumi-aws reports it to AWS
	empty, err := metadata.New(nil)
	if err != nil {
		return tfbridge.ProviderInfo{}, err
	}
	info := tfbridge.ProviderInfo{
		P:            pftfbridge.MuxShimWithDisjointgPF(ctx, sdkv2.NewProvider(sdk), framework),
		Name:         "aws",
		Version:      version,
		MetadataInfo: &tfbridge.MetadataInfo{Path: "none", Data: tfbridge.ProviderMetadata(empty)},
		Config: map[string]*tfbridge.SchemaInfo{
			"region": {Default: &tfbridge.DefaultInfo{
				EnvVars: []string{"AWS_REGION", "AWS_DEFAULT_REGION"},
			}},
			"skip_region_validation":  {Default: &tfbridge.DefaultInfo{Value: true}},
			"skip_metadata_api_check": {Type: "boolean"},
		},
		SkipValidateProviderConfigForPluginFramework: true,
		EnableAccurateBridgePreview:                  true,
		EnableRawStateDelta:                          true,
	}
	addMapping(&info, sdk)
	return info, dispatch(&info)
}

// dispatch records which of the two halves of the provider serves which type. pulumi-aws reads this
// from the schema that its build generates.
func dispatch(info *tfbridge.ProviderInfo) error {
	// The type that has this method is internal to the bridge.
	muxed, ok := info.P.(interface {
		ResolveDispatch(*tfbridge.ProviderInfo) (muxer.DispatchTable, error)
	})
	if !ok {
		return fmt.Errorf("the bridge does not resolve types of %T", info.P)
	}
	table, err := muxed.ResolveDispatch(info)
	if err != nil {
		return err
	}
	return metadata.Set(info.GetMetadata(), "mux", table)
}
