// Companions are the programs of the sandbox's Kubernetes that have no verifiable release: the
// authenticator, which belongs to this repository, and kwok, which is published without
// checksums. They are built alone where the Kubernetes programs themselves can be downloaded.
package main

import (
	"os"

	"trainyard/sandbox/control_plane/authenticator"
	"trainyard/sandbox/control_plane/multicall"
	"trainyard/sandbox/control_plane/simulator"
)

func main() {
	os.Exit(multicall.Run(map[string]func() int{
		"authenticator": func() int { return authenticator.Main(os.Args[1:]) },
		"kwok":          simulator.Main,
	}))
}
