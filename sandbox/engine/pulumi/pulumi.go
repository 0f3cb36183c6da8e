//go:build tools

// Package pulumi pins the Pulumi CLI that trainyard builds where the official release cannot be
// downloaded. It holds no code: the blank import keeps the command in go.mod.
package pulumi

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
