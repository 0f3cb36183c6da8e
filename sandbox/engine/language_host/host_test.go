package main

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestAProgramWithoutConfigurationReadsAnEmptyObjectAndNotNull(t *testing.T) {
	environment, err := configurationEnvironment(&pulumirpc.RunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"PULUMI_CONFIG={}", "PULUMI_CONFIG_SECRET_KEYS=[]"}
	if !slices.Equal(environment, wanted) {
		t.Errorf("got %q, want %q", environment, wanted)
	}
}

func TestAPolicyPackWithoutAStackGetsNoEnvironmentOfOne(t *testing.T) {
	environment, err := stackEnvironment(nil)
	if err != nil || len(environment) != 0 {
		t.Errorf("got %q, %v", environment, err)
	}
}

func TestAPolicyPackReadsAnEmptyConfigurationAndNotNull(t *testing.T) {
	environment, err := stackEnvironment(&pulumirpc.AnalyzerStackConfigureRequest{Stack: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(environment, "PULUMI_CONFIG={}") {
		t.Errorf("got %q", environment)
	}
}

func TestTheExecutorGetsWhatTheEngineSaysAndNothingEmpty(t *testing.T) {
	arguments := programArguments("exec", "127.0.0.1:1", &pulumirpc.RunRequest{
		Project: "trainyard", Stack: "p5-cb", MonitorAddress: "127.0.0.1:2", Parallel: 4,
		DryRun: true, Pwd: "/program",
		Info: &pulumirpc.ProgramInfo{
			RootDirectory: "/project", ProgramDirectory: "/program", EntryPoint: ".",
		},
		Args: []string{"extra"},
	})
	wanted := "-u exec --monitor 127.0.0.1:2 --engine 127.0.0.1:1 --project trainyard " +
		"--root_directory /project --stack p5-cb --pwd /program --dry_run true --parallel 4 " +
		"/program extra"
	if got := strings.Join(arguments, " "); got != wanted {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
}

func TestHowAProgramEndedIsSaidAsTheEngineExpectsIt(t *testing.T) {
	for _, test := range []struct {
		script string
		bail   bool
		words  string
	}{
		{"exit 0", false, ""},
		{"exit 32", true, ""},
		{"exit 7", false, "non-zero exit code: 7"},
		{"kill -9 $$", false, "ended by a signal"},
	} {
		response, err := runResult(exec.Command("/bin/sh", "-c", test.script).Run())
		if err != nil {
			t.Fatalf("%s: %v", test.script, err)
		}
		if response.GetBail() != test.bail || !strings.Contains(response.GetError(), test.words) {
			t.Errorf("%s: got %v", test.script, response)
		}
		if test.words == "" && response.GetError() != "" {
			t.Errorf("%s: got %v", test.script, response)
		}
	}
	if _, err := runResult(exec.ErrNotFound); err == nil {
		t.Error("a program that could not be started is an error of the host")
	}
}

func TestOnlyPackagesWithAPluginAreRequired(t *testing.T) {
	required := requiredPackages([]installedPackage{
		{Name: "pulumi-policy", Plugin: plugin.PulumiPluginJSON{Resource: false}},
		{Name: "pulumi-aws", Version: "1.0.0", Plugin: plugin.PulumiPluginJSON{
			Resource: true, Name: "aws", Version: "7.51.1", Server: "https://example.com",
		}},
		{Name: "pulumi-random", Version: "4.18.2", Plugin: plugin.PulumiPluginJSON{Resource: true}},
	})
	if len(required) != 2 {
		t.Fatalf("got %v", required)
	}
	aws, random := required[0], required[1]
	if aws.Name != "aws" || aws.Version != "v7.51.1" || aws.Server != "https://example.com" {
		t.Errorf("got %v", aws)
	}
	if random.Name != "random" || random.Version != "v4.18.2" || random.Kind != "resource" {
		t.Errorf("got %v", random)
	}
}

func TestAnOptionThatCannotBeHonouredIsRefused(t *testing.T) {
	for name, words := range map[string]string{
		"toolchain": "must be pip, uv or poetry", "typechecker": "official Pulumi release",
	} {
		options, err := structpb.NewStruct(map[string]any{name: "other"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = toolchainOf(&pulumirpc.ProgramInfo{Options: options})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestARelativeVirtualEnvironmentIsBesideTheProjectFile(t *testing.T) {
	options, err := structpb.NewStruct(map[string]any{"toolchain": "pip", "virtualenv": "../.venv"})
	if err != nil {
		t.Fatal(err)
	}
	python, err := toolchainOf(&pulumirpc.ProgramInfo{
		RootDirectory: "/repository/policies", Options: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	path, err := python.VirtualEnvPath(context.Background())
	if err != nil || path != filepath.FromSlash("/repository/.venv") {
		t.Errorf("got %q, %v", path, err)
	}
}

func TestEveryFlagOfTheEngineIsAccepted(t *testing.T) {
	options, err := parseCommandLine([]string{
		"--logtostderr", "-v=9", "--tracing", "file:///t", "-root", "/r", "-use-executor", "/e",
		"127.0.0.1:5",
	})
	if err != nil || options.engineAddress != "127.0.0.1:5" || options.executor != "/e" {
		t.Errorf("got %+v, %v", options, err)
	}
}

func TestTheHostNoticesThatItsEngineIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	engine := grpc.NewServer()
	go func() { _ = engine.Serve(listener) }()
	lost := make(chan struct{})
	watching := newHost(settings{}, func() { close(lost) })
	_, err = watching.Handshake(context.Background(), &pulumirpc.LanguageHandshakeRequest{
		EngineAddress: listener.Addr().String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	engine.Stop()
	select {
	case <-lost:
	case <-time.After(10 * enginePollInterval):
		t.Fatal("the engine ended and the host did not notice")
	}
	if watching.running.Err() == nil {
		t.Error("what the host runs goes on without an engine")
	}
}
