module trainyard/sandbox/kueue_controller

go 1.26.2

require sigs.k8s.io/kueue v0.19.2
