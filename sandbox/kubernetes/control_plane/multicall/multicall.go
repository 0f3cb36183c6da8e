// Package multicall puts several programs into one binary: the first argument names the program,
// what follows are the program's own arguments.
package multicall

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Run runs the program that the first argument names and returns its exit code. The program reads
// the rest from os.Args, whose first element is its own name.
func Run(programs map[string]func() int) int {
	var names []string
	for name := range programs {
		names = append(names, name)
	}
	slices.Sort(names)
	known := strings.Join(names, ", ")
	if len(os.Args) < 2 {
		fmt.Fprintf(os.Stderr, "usage: %s PROGRAM [ARGUMENT...]; programs: %s\n", os.Args[0], known)
		return 2
	}
	run, found := programs[os.Args[1]]
	if !found {
		fmt.Fprintf(os.Stderr, "unknown program %q; programs: %s\n", os.Args[1], known)
		return 2
	}
	os.Args = os.Args[1:]
	return run()
}
