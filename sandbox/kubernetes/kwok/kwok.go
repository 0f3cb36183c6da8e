//go:build tools

// Package kwok pins the node simulator. It is a module of its own because kwok 0.7.0 does not
// compile against the Kubernetes 1.35 modules that the control plane is built from.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
