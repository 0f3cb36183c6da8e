#!/bin/bash
#
# Gets everything that the training needs into the shared directory. Run it once, on the head node;
# what is there already is left alone.
set -euo pipefail
# shellcheck source=settings.sh
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
mkdir -p "$WORK" "$SAMPLES" "$DATASETS"

download() {
  curl --fail --silent --show-error --location --retry 5 "$@"
}

echo "training script"
sample=https://raw.githubusercontent.com/aws-neuron/aws-neuron-samples/@samples_commit@
for file in dp_bert_large_hf_pretrain_hdf5.py adamw_fp32_optim_params.py requirements.txt; do
  download --output "$SAMPLES/$file" "$sample/torch-neuronx/training/dp_bert_hf_pretrain/$file"
done

complete=$WORK/venv-is-complete
if [[ $NEURON_VENV == "$WORK/venv" && ! -e $complete ]]; then
  echo "Python environment"
  # A Python of its own, because the interpreter has to be the same on all nodes.
  download https://astral.sh/uv/@uv@/install.sh |
    env UV_UNMANAGED_INSTALL="$WORK/uv" sh
  export UV_PYTHON_INSTALL_DIR=$WORK/python
  "$WORK/uv/uv" venv --clear --seed --managed-python --python @python@ "$NEURON_VENV"
  "$NEURON_VENV/bin/python" -m pip install --quiet \
    --extra-index-url https://pip.repos.neuron.amazonaws.com \
    neuronx-cc==@neuronx_cc@ torch-neuronx==@torch_neuronx@ \
    --requirement "$SAMPLES/requirements.txt"
  touch "$complete"
fi

echo "model"
"$NEURON_VENV/bin/huggingface-cli" download --quiet \
  bert-large-uncased config.json pytorch_model.bin > /dev/null

bucket=s3://neuron-s3/training_datasets/bert_pretrain_wikicorpus_tokenized_hdf5
datasets=(
@datasets@
)
unfinished=
trap 'rm -rf "$unfinished"' EXIT
for dataset in "${datasets[@]}"; do
  [[ -d $DATASETS/$dataset ]] && continue
  echo "$dataset"
  # Half a download must not look like a dataset: it gets its name when it is complete.
  unfinished=$(mktemp -d "$DATASETS/unfinished.XXXXXX")
  aws s3 cp --no-sign-request --only-show-errors "$bucket/$dataset.tar" - |
    tar -x -C "$unfinished"
  mv "$unfinished/$dataset" "$DATASETS/$dataset"
  rm -rf "$unfinished"
done
echo "ready in $WORK"
