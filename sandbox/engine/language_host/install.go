package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// InstallDependencies makes the program's virtual environment, for `pulumi install`. What the
// package manager prints is streamed to the engine.
func (h *host) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest,
	server pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return err
	}
	streams, stdout, stderr, err := rpcutil.MakeInstallDependenciesStreams(
		server, request.GetIsTerminal())
	if err != nil {
		return err
	}
	defer streams.Close()
	running, stop := h.whileBothLast(server.Context())
	defer stop()
	err = python.InstallDependencies(running, request.GetInfo().GetProgramDirectory(),
		request.GetUseLanguageVersionTools(), true, stdout, stderr)
	if err != nil {
		return err
	}
	return streams.Close()
}
