package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// exitMessageShown is the exit code by which the SDK's executor says that the user has already
// been shown why the program failed.
const exitMessageShown = 32

// Run runs a program to its end. A failure of the program is part of the answer; an error is
// returned only when it could not be run at all.
func (h *host) Run(
	ctx context.Context, request *pulumirpc.RunRequest,
) (*pulumirpc.RunResponse, error) {
	if request.GetAttachDebugger() {
		return &pulumirpc.RunResponse{
			Error: "attaching a debugger needs the official Pulumi release",
		}, nil
	}
	python, err := toolchainOf(request.GetInfo())
	if err != nil {
		return nil, err
	}
	if err := python.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	running, stop := h.whileBothLast(ctx)
	defer stop()
	command, err := python.Command(running, programArguments(h.executor, h.engine(), request)...)
	if err != nil {
		return nil, err
	}
	configuration, err := configurationEnvironment(request)
	if err != nil {
		return nil, err
	}
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, configuration...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	interruptible(command)
	return runResult(command.Run())
}

// whileBothLast returns a context that ends with the call and with the host, whichever is first.
func (h *host) whileBothLast(call context.Context) (context.Context, context.CancelFunc) {
	running, cancel := context.WithCancel(call)
	detach := context.AfterFunc(h.running, cancel)
	return running, func() { detach(); cancel() }
}

// programArguments returns the command line of the executor, without the interpreter.
func programArguments(executor, engine string, request *pulumirpc.RunRequest) []string {
	info := request.GetInfo()
	arguments := []string{"-u", executor}
	for _, option := range [][2]string{
		{"monitor", request.GetMonitorAddress()},
		{"engine", engine},
		{"project", request.GetProject()},
		{"root_directory", info.GetRootDirectory()},
		{"stack", request.GetStack()},
		{"pwd", request.GetPwd()},
		{"dry_run", strconv.FormatBool(request.GetDryRun())},
		{"parallel", strconv.Itoa(int(request.GetParallel()))},
		{"organization", request.GetOrganization()},
	} {
		if option[1] != "" {
			arguments = append(arguments, "--"+option[0], option[1])
		}
	}
	// The entry point is a file of the program's directory, or `.` for the directory itself.
	program := filepath.Join(info.GetProgramDirectory(), info.GetEntryPoint())
	return append(append(arguments, program), request.GetArgs()...)
}

// configurationEnvironment returns the stack's configuration as the variables that the SDK reads.
// Nothing configured is `{}` and `[]`: the SDK cannot read `null`.
func configurationEnvironment(request *pulumirpc.RunRequest) ([]string, error) {
	values := request.GetConfig()
	if values == nil {
		values = map[string]string{}
	}
	secretKeys := request.GetConfigSecretKeys()
	if secretKeys == nil {
		secretKeys = []string{}
	}
	encodedValues, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	encodedKeys, err := json.Marshal(secretKeys)
	if err != nil {
		return nil, fmt.Errorf("write the names of secret configuration: %w", err)
	}
	return []string{
		"PULUMI_CONFIG=" + string(encodedValues),
		"PULUMI_CONFIG_SECRET_KEYS=" + string(encodedKeys),
	}, nil
}

// runResult translates how a program ended into the answer for the engine.
func runResult(err error) (*pulumirpc.RunResponse, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case !errors.As(err, &exit):
		return nil, fmt.Errorf("run the program: %w", err)
	case exit.ExitCode() == exitMessageShown:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case exit.ExitCode() < 0:
		return &pulumirpc.RunResponse{
			Error: fmt.Sprintf("program ended by a signal: %v", exit),
		}, nil
	default:
		return &pulumirpc.RunResponse{
			Error: fmt.Sprintf("program exited with non-zero exit code: %d", exit.ExitCode()),
		}, nil
	}
}
