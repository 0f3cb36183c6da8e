module trainyard/sandbox/controllers

go 1.26.2

require (
	sigs.k8s.io/jobset v0.12.0
	sigs.k8s.io/kueue v0.19.2
)
