package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// installedPackages prints the Pulumi packages of an environment as JSON.
//
//go:embed installed_packages.py
var installedPackages string

// installedPackage is one Python package that says in a pulumi-plugin.json what plugin it needs.
type installedPackage struct {
	// Name and Version are the Python package's, used where the file gives none.
	Name    string                  `json:"name"`
	Version string                  `json:"version"`
	Plugin  plugin.PulumiPluginJSON `json:"plugin"`
}

// GetRequiredPackages returns the provider plugins that the packages of the program's environment
// need, for the engine to find or fetch before the program runs.
func (h *host) GetRequiredPackages(
	ctx context.Context, request *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := python.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	command, err := python.Command(ctx, "-c", installedPackages)
	if err != nil {
		return nil, err
	}
	command.Dir = request.GetInfo().GetProgramDirectory()
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list the Pulumi packages with %s: %w", command.Path, withOutput(err))
	}
	var packages []installedPackage
	if err := json.Unmarshal(output, &packages); err != nil {
		return nil, fmt.Errorf("read the list of Pulumi packages: %w", err)
	}
	return &pulumirpc.GetRequiredPackagesResponse{Packages: requiredPackages(packages)}, nil
}

// requiredPackages leaves out the packages that have no plugin, such as the policy SDK.
func requiredPackages(packages []installedPackage) []*pulumirpc.PackageDependency {
	required := []*pulumirpc.PackageDependency{}
	for _, installed := range packages {
		if !installed.Plugin.Resource {
			continue
		}
		name, release := installed.Plugin.Name, installed.Plugin.Version
		if name == "" {
			name = strings.TrimPrefix(installed.Name, "pulumi-")
		}
		if release == "" {
			release = installed.Version
		}
		required = append(required, &pulumirpc.PackageDependency{
			Name:             name,
			Kind:             "resource",
			Version:          "v" + strings.TrimPrefix(release, "v"),
			Server:           installed.Plugin.Server,
			Parameterization: parameterization(installed.Plugin.Parameterization),
			Extension:        parameterization(installed.Plugin.ExtensionParameterization),
		})
	}
	return required
}

func parameterization(
	written *plugin.PulumiParameterizationJSON,
) *pulumirpc.PackageParameterization {
	if written == nil {
		return nil
	}
	return &pulumirpc.PackageParameterization{
		Name: written.Name, Version: written.Version, Value: written.Value,
	}
}

// GetProgramDependencies lists the Python packages of the environment, for `pulumi about`.
func (h *host) GetProgramDependencies(
	ctx context.Context, request *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return nil, err
	}
	packages, err := python.ListPackages(ctx, request.GetTransitiveDependencies())
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	for _, installed := range packages {
		response.Dependencies = append(response.Dependencies, &pulumirpc.DependencyInfo{
			Name: installed.Name, Version: installed.Version,
		})
	}
	return response, nil
}

// About describes the interpreter that programs run with.
func (h *host) About(
	ctx context.Context, request *pulumirpc.AboutRequest,
) (*pulumirpc.AboutResponse, error) {
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return nil, err
	}
	about, err := python.About(ctx)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AboutResponse{
		Executable: about.PythonExecutable, Version: about.PythonVersion.String(),
	}, nil
}

// withOutput adds what a failed command wrote to standard error.
func withOutput(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
