// Command pulumi-language-python lets the Pulumi engine run Python programs, policy packs and
// plugins. It is what trainyard builds where the official Pulumi release, which brings a language
// host of its own, cannot be downloaded.
//
// The engine starts it with its own gRPC address as the only argument, reads the port it listens
// on from the first line of its output, and talks to it through the LanguageRuntime service:
// https://github.com/pulumi/pulumi/blob/v3.260.0/proto/pulumi/language.proto
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// executor is the Python script of the SDK that configures the Pulumi runtime and runs a program.
// It stands beside this binary.
const executor = "pulumi-language-python-exec"

// enginePollInterval is how often the host asks whether its engine still answers, and so how long
// a program can outlive an engine that was killed. The question costs less than a millisecond.
const enginePollInterval = time.Second

// settings are the command line of one start.
type settings struct {
	executor      string
	engineAddress string
	showVersion   bool
}

func main() {
	options, err := parseCommandLine(os.Args[1:])
	if err == nil && options.showVersion {
		fmt.Println(version.Version)
		return
	}
	if err == nil {
		err = serve(options)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-language-python: %v\n", err)
		os.Exit(1)
	}
}

// parseCommandLine accepts every flag that an engine of this version may pass to a language host.
// Tracing and verbosity have no effect here: the host does nothing that needs them.
func parseCommandLine(arguments []string) (settings, error) {
	options := settings{}
	flags := flag.NewFlagSet("pulumi-language-python", flag.ContinueOnError)
	flags.BoolVar(&options.showVersion, "version", false, "print the version and end")
	flags.StringVar(&options.executor, "use-executor", "", "script that runs a program")
	flags.Bool("logtostderr", false, "accepted, without effect")
	flags.Int("v", 0, "accepted, without effect")
	for _, name := range []string{"tracing", "root", "virtualenv", "toolchain", "typechecker"} {
		flags.String(name, "", "accepted, without effect")
	}
	if err := flags.Parse(arguments); err != nil {
		return options, err
	}
	options.engineAddress = flags.Arg(0)
	if options.executor != "" || options.showVersion {
		return options, nil
	}
	self, err := os.Executable()
	if err != nil {
		return options, fmt.Errorf("find the directory of this binary: %w", err)
	}
	options.executor = filepath.Join(filepath.Dir(self), executor)
	if _, err := os.Stat(options.executor); err != nil {
		return options, fmt.Errorf("the script that runs programs is missing: %w", err)
	}
	return options, nil
}

// serve answers the engine until it closes the host, a signal comes, or the engine is gone.
func serve(options settings) error {
	stopping, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	host := newHost(options, endWithChildren)
	if err := host.watchEngine(stopping, options.engineAddress); err != nil {
		return fmt.Errorf("watch the engine at %s: %w", options.engineAddress, err)
	}
	cancel := make(chan bool)
	go func() {
		<-stopping.Done()
		host.cancel()
		close(cancel)
	}()
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: cancel,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, host)
			return nil
		},
	})
	if err != nil {
		return fmt.Errorf("listen for the engine: %w", err)
	}
	fmt.Printf("%d\n", handle.Port)
	return <-handle.Done
}
