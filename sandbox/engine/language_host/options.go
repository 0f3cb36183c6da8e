package main

import (
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// toolchainOf returns the package manager and virtual environment that `runtime.options` of
// Pulumi.yaml or PulumiPolicy.yaml name. A relative virtual environment is relative to the
// directory of that file.
func toolchainOf(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, error) {
	options := toolchain.PythonOptions{
		Root:       info.GetRootDirectory(),
		ProgramDir: info.GetProgramDirectory(),
	}
	for name, value := range info.GetOptions().AsMap() {
		text, isText := value.(string)
		if !isText {
			return nil, fmt.Errorf("runtime.options.%s is %v; it must be a string", name, value)
		}
		switch name {
		case "virtualenv":
			options.Virtualenv = text
		case "toolchain":
			switch text {
			case "pip":
				options.Toolchain = toolchain.Pip
			case "uv":
				options.Toolchain = toolchain.Uv
			case "poetry":
				options.Toolchain = toolchain.Poetry
			default:
				return nil, fmt.Errorf(
					"runtime.options.toolchain is %q; it must be pip, uv or poetry", text)
			}
		case "typechecker":
			// Refused rather than ignored: a program that relies on it would run unchecked.
			return nil, fmt.Errorf(
				"runtime.options.typechecker is %q, which needs the official Pulumi release; "+
					"remove the option and run the type checker by itself", text)
		}
	}
	return toolchain.ResolveToolchain(options)
}
