# shellcheck shell=bash
# Phase @number@, @scaling@ scaling: @batch@ sequences a NeuronCore x @accumulation@ accumulated x
# @cores@ NeuronCores x @nodes@ nodes = a global batch of @global_batch@ sequences.
@values@
