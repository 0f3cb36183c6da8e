//go:build tools

// Package controllers pins the controllers that the sandbox builds for clusters with `addons.kueue`
// and `addons.jobset`. It holds no code: the blank imports keep the commands in go.mod. `go mod tidy`
// is not for this module: it adds what only the tests of dependencies need. After a change of a
// version, run `go list -mod=mod -deps sigs.k8s.io/kueue/cmd/kueue sigs.k8s.io/jobset >/dev/null`,
// and `python -m tools.catalog.controllers`.
package controllers

import (
	_ "sigs.k8s.io/jobset"
	_ "sigs.k8s.io/kueue/cmd/kueue"
)
