// Package simulator is kwok, which keeps simulated nodes alive and runs their pods, with the
// stages of its own distribution: since version 0.8.0 kwok has none unless they are given to it.
package simulator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"
	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodelease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// stages are what kwok does with a node and with a pod, at once: a node becomes Ready and renews
// its lease, a pod runs, a pod of a Job completes, a deleted pod is gone.
var stages = []string{
	nodefast.DefaultNodeInit,
	nodelease.DefaultNodeHeartbeatWithLease,
	podfast.DefaultPodReady,
	podfast.DefaultPodComplete,
	podfast.DefaultPodDelete,
}

// Main runs kwok with os.Args and returns its exit code.
func Main() int {
	// The other programs of the binary register flags on the global set, one of them a `version`
	// that is no boolean; cobra would merge them into kwok's.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	fixIdentity()

	ctx, logger := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := configured(ctx, flags)
	if err == nil {
		command := cmd.NewCommand(ctx)
		command.PersistentFlags().AddFlagSet(flags)
		err = command.ExecuteContext(ctx)
	}
	if err != nil {
		logger.Error("kwok ends", "err", err)
		return 1
	}
	return 0
}

// fixIdentity gives kwok the same identity each time it starts on this machine.
//
// kwok identifies itself by the host's name and a random UUID, the first of the process, and runs
// the pods of a node only while that is the holder in the node's lease. With another identity, a
// kwok that starts again would wait until the leases of its predecessor expire, and then miss pods
// if it lists them before its cache contains the lease that it has just taken. The sandbox ends a
// cluster's kwok before it starts the next one, so a lease never has two holders.
// https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/kwok/controllers/controller.go, `Identity`
// https://github.com/kubernetes-sigs/kwok/blob/v0.8.0/pkg/kwok/controllers/node_lease_controller.go
func fixIdentity() {
	uuid.SetRand(rand.NewChaCha8([32]byte{}))
}

// configured reads kwok's configuration with the stages. kwok reads them from files only, and
// reads each file once, here.
func configured(ctx context.Context, flags *pflag.FlagSet) (context.Context, error) {
	file, err := os.CreateTemp("", "kwok-stages-*.yaml")
	if err != nil {
		return ctx, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(strings.Join(stages, "\n---\n"))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return ctx, fmt.Errorf("the stages cannot be written to %s: %w", file.Name(), err)
	}
	os.Args = append(os.Args, "--config="+file.Name())
	return config.InitFlags(ctx, flags)
}
