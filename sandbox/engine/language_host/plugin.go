package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
)

// RunPlugin runs a policy pack or another plugin written in Python until it ends by itself, the
// engine closes the call, or the engine goes away. Its output is streamed to the engine.
func (h *host) RunPlugin(
	request *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	if request.GetAttachDebugger() {
		return errors.New("attaching a debugger needs the official Pulumi release")
	}
	running, stop := h.whileBothLast(server.Context())
	defer stop()
	command, err := pluginCommand(running, request)
	if err != nil {
		return err
	}
	streams, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	defer streams.Close()
	command.Stderr = stderr
	interruptible(command)
	if request.GetKind() == string(apitype.AnalyzerPlugin) {
		err = runPolicyPack(running, command, stdout)
	} else {
		command.Stdout = stdout
		err = command.Run()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return server.Send(&pulumirpc.RunPluginResponse{
			Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())},
		})
	}
	if err != nil {
		return fmt.Errorf("run the plugin in %s: %w", request.GetInfo().GetProgramDirectory(), err)
	}
	return streams.Close()
}

// pluginCommand returns the command of a plugin with its environment and working directory.
//
// A policy pack is the SDK's module pulumi.policy with the engine's arguments followed by the
// pack's directory, and works in that directory; any other plugin is its directory, run as Python
// runs a directory, followed by the engine's arguments.
func pluginCommand(
	ctx context.Context, request *pulumirpc.RunPluginRequest,
) (*exec.Cmd, error) {
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := python.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	directory := request.GetInfo().GetProgramDirectory()
	var arguments []string
	workingDirectory := request.GetPwd()
	if request.GetKind() == string(apitype.AnalyzerPlugin) {
		arguments = append([]string{"-u", "-m", "pulumi.policy"}, request.GetArgs()...)
		arguments = append(arguments, directory)
		workingDirectory = directory
	} else {
		arguments = append([]string{"-u", directory}, request.GetArgs()...)
	}
	command, err := python.Command(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	command.Dir = workingDirectory
	if len(request.GetEnv()) > 0 {
		// The engine sends a whole environment, without the activation of the plugin's own.
		command.Env = request.GetEnv()
		if path, err := python.VirtualEnvPath(ctx); err == nil && path != "" {
			command.Env = toolchain.ActivateVirtualEnv(command.Env, path)
		}
	}
	return command, nil
}

// runPolicyPack runs a policy pack behind the SDK's proxy: the Python SDK wants the stack's name
// and configuration in its environment, and the engine says them only after the pack has started.
func runPolicyPack(ctx context.Context, command *exec.Cmd, stdout io.Writer) error {
	proxy, packStdout, err := sdk.NewPolicyProxy(ctx, stdout)
	if err != nil {
		return fmt.Errorf("start the proxy of the policy pack: %w", err)
	}
	stack, err := proxy.AwaitConfiguration(ctx)
	if err != nil {
		return fmt.Errorf("wait for the configuration of the stack: %w", err)
	}
	configuration, err := stackEnvironment(stack)
	if err != nil {
		return err
	}
	if command.Env == nil {
		command.Env = command.Environ()
	}
	command.Env = append(command.Env, configuration...)
	command.Stdout = packStdout
	if err := command.Start(); err != nil {
		return err
	}
	return proxy.Attach(ctx, command)
}

// stackEnvironment returns the variables by which a Python policy pack knows its stack. There are
// none where the engine runs the pack without a stack, for example to publish it.
func stackEnvironment(stack *pulumirpc.AnalyzerStackConfigureRequest) ([]string, error) {
	if stack == nil {
		return nil, nil
	}
	values := stack.GetConfig()
	if values == nil {
		values = map[string]string{}
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write the configuration for the policy pack: %w", err)
	}
	environment := []string{
		"PULUMI_PROJECT=" + stack.GetProject(),
		"PULUMI_STACK=" + stack.GetStack(),
		"PULUMI_DRY_RUN=" + strconv.FormatBool(stack.GetDryRun()),
		"PULUMI_CONFIG=" + string(encoded),
	}
	if organization := stack.GetOrganization(); organization != "" {
		environment = append(environment, "PULUMI_ORGANIZATION="+organization)
	}
	return environment, nil
}
