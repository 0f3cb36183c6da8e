// Control_plane is every program of the sandbox's Kubernetes in one binary: one compilation and one
// link instead of seven. The first argument names the program; what follows are the program's own
// arguments, exactly as its official binary takes them.
//
// The sandbox starts one set of these processes for each EKS cluster. All of them but the
// authenticator are the upstream programs.
package main

import (
	"os"

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
	"trainyard/sandbox/control_plane/multicall"
	"trainyard/sandbox/control_plane/simulator"
)

func main() {
	os.Exit(multicall.Run(map[string]func() int{
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
		"kwok":          simulator.Main,
	}))
}
