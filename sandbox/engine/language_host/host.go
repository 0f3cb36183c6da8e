package main

import (
	"context"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
)

// host answers the LanguageRuntime calls of one engine. Code generation, packing and linking are
// left unimplemented: they serve package authors, not programs.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	executor string

	// running ends when the engine cancels the update or goes away; every process that the host
	// starts ends with it.
	running context.Context
	cancel  context.CancelFunc

	// engineLost is called once, when the engine stopped answering.
	engineLost func()

	mutex         sync.Mutex
	engineAddress string
}

func newHost(options settings, engineLost func()) *host {
	running, cancel := context.WithCancel(context.Background())
	return &host{
		executor:      options.executor,
		engineAddress: options.engineAddress,
		running:       running,
		cancel:        cancel,
		engineLost:    sync.OnceFunc(engineLost),
	}
}

// watchEngine ends the host and what it started as soon as the engine no longer answers. Without
// it a program would outlive an engine that was killed, and go on creating resources.
func (h *host) watchEngine(ctx context.Context, address string) error {
	if address == "" {
		return nil // told later, by Handshake
	}
	return rpcutil.Healthcheck(ctx, address, enginePollInterval, func() {
		if ctx.Err() == nil {
			h.cancel()
			h.engineLost()
		}
	})
}

// engine returns the address of the engine, for the program to report to.
func (h *host) engine() string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.engineAddress
}

// Handshake tells the host where its engine is. An engine that starts the host itself says so on
// the command line instead; this is for a host that an engine attaches to.
func (h *host) Handshake(
	_ context.Context, request *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	h.mutex.Lock()
	known := h.engineAddress == request.GetEngineAddress()
	h.engineAddress = request.GetEngineAddress()
	h.mutex.Unlock()
	if !known {
		// The watch outlives this call, so it does not run on the call's context.
		if err := h.watchEngine(h.running, request.GetEngineAddress()); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// GetPluginInfo returns the version of the SDK that the host was built from.
func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// Cancel interrupts whatever runs; the engine calls it on Ctrl-C.
func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.cancel()
	return &emptypb.Empty{}, nil
}

// RuntimeOptionsPrompts has nothing to ask: `pulumi new` is not what the host is for.
func (h *host) RuntimeOptionsPrompts(
	context.Context, *pulumirpc.RuntimeOptionsRequest,
) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

// Template leaves a new project's files as they are.
func (h *host) Template(
	context.Context, *pulumirpc.TemplateRequest,
) (*pulumirpc.TemplateResponse, error) {
	return &pulumirpc.TemplateResponse{}, nil
}
