//go:build tools

// Package kueue pins the Kueue that the sandbox builds for clusters with `addons.kueue`. It holds no
// code: the blank import keeps the command in go.mod. `go mod tidy` is not for this module: it adds
// what only the tests of dependencies need. After a change of the version, run
// `go list -mod=mod -deps sigs.k8s.io/kueue/cmd/kueue >/dev/null`, and `python -m tools.catalog.kueue`.
package kueue

import _ "sigs.k8s.io/kueue/cmd/kueue"
