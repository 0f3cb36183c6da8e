// Authenticator is the API server's token webhook alone, for machines where the Kubernetes
// programs were downloaded and only this one, which is ours, has to be built.
package main

import (
	"os"

	"trainyard/sandbox/control_plane/authenticator"
)

func main() {
	os.Exit(authenticator.Main(os.Args[1:]))
}
