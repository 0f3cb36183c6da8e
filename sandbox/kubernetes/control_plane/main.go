// Control_plane is every server program of a Kubernetes control plane in one binary: one
// compilation and one link instead of six. The first argument names the program; what follows
// are the program's own arguments, exactly as its official binary takes them.
//
// The sandbox starts one set of these processes for each EKS cluster. All of them but the
// authenticator are the unchanged upstream programs.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"trainyard/sandbox/control_plane/authenticator"
)

// programs maps the first argument to what runs; each reads the rest from os.Args, whose first
// element is by then the program's own name.
var programs = map[string]func() int{
	"etcd": func() int {
		etcdmain.Main(os.Args)
		return 0
	},
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubectl": func() int {
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
		return 0
	},
	"authenticator": func() int { return authenticator.Main(os.Args[1:]) },
}

func names() string {
	var known []string
	for name := range programs {
		known = append(known, name)
	}
	sort.Strings(known)
	return strings.Join(known, ", ")
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintf(os.Stderr, "usage: %s PROGRAM [ARGUMENT...]; programs: %s\n", os.Args[0], names())
		os.Exit(2)
	}
	run, known := programs[os.Args[1]]
	if !known {
		fmt.Fprintf(os.Stderr, "unknown program %q; programs: %s\n", os.Args[1], names())
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	os.Exit(run())
}
