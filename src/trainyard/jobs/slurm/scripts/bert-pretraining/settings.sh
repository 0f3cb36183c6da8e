# shellcheck shell=bash
# BERT-Large pretraining on the cluster @cluster@: @description@.
# The other scripts of this directory read this file.

WORK=@shared@/$(id -un)/bert-pretraining
export WORK
# Set NEURON_VENV to use an environment that exists, with torch-neuronx and what the script needs.
export NEURON_VENV=${NEURON_VENV:-$WORK/venv}
export SAMPLES=$WORK/samples
export DATASETS=$WORK/datasets
# The model's definition comes from Hugging Face once; nodes read it from here.
export HF_HOME=$WORK/huggingface

export PATH=$NEURON_VENV/bin:@neuron_bin@:$PATH
