#!/bin/bash
#
# What every node runs, for compiling and for training; Slurm starts it once a node.
set -euo pipefail
phase=${1:?which phase: 1 or 2}
task=${2:-train}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=settings.sh
source "$here/settings.sh"
# shellcheck source=addresses.sh
source "$here/addresses.sh"
# shellcheck source=/dev/null
source "$here/phase$phase.sh"

if ! command -v neuron-ls > /dev/null; then
  echo "$(hostname) lacks the Neuron driver and tools: install them when nodes start (custom action 'neuron')," \
    "or use an AMI with it" >&2
  exit 1
fi
# Amazon Linux 2023 and Red Hat 9 leave out a library that the compiler wants.
if [[ $(PATH=$PATH:/sbin ldconfig -p) != *"libcrypt.so.1 "* ]]; then
  sudo dnf install --quiet --assumeyes libxcrypt-compat
fi
# Cores of a job that was cancelled can look taken until the driver is loaded anew.
sudo modprobe -r neuron || echo "$(hostname) keeps the driver as it is" >&2
sudo modprobe neuron
# The port on which collectives meet must not be given to another connection.
sudo sysctl -q -w net.ipv4.ip_local_reserved_ports=@root_comm_port@

@environment@
# Gradients go out in pieces of this many MB, and random seeds without waiting.
export BUCKET_CAP_MB=512
export XLA_TRANSFER_SEED_ASYNC=1
# Rounding that does not differ from run to run; the script turns it on for bfloat16.
export NEURON_RT_STOCHASTIC_ROUNDING_SEED=0
export NEURON_RT_EXEC_TIMEOUT=600
export HF_HUB_OFFLINE=1
# By number and not by name: the next job may get other nodes. neuron_parallel_compile reads it too.
export NEURON_COMPILE_CACHE_URL=$WORK/neuron-cache/node-$SLURM_NODEID

output=$WORK/phase$phase
steps=$MAX_STEPS
run=(torchrun)
if [[ $task == compile ]]; then
  # It wants the graphs only, and no checkpoint.
  output=$WORK/compile-phase$phase
  steps=@graph_steps@
  run=(neuron_parallel_compile torchrun)
fi
mkdir -p "$output"

checkpoint=$WORK/phase1/ckpt_@phase1_steps@.pt
more=()
if [[ $phase == 2 ]]; then
  # Phase 2 goes on from the weights of phase 1.
  if [[ ! -f $checkpoint ]]; then
    echo "$checkpoint is missing: phase 1 has not come to its end" >&2
    exit 1
  fi
  more=(--phase2 --resume_ckpt --resume_ckpt_path "$checkpoint" --phase1_end_step @phase1_steps@)
elif [[ $task == train && -f $checkpoint ]]; then
  echo "phase 1 is complete: $checkpoint"
  exit 0
elif [[ $task == train ]] && compgen -G "$output/ckpt_*.pt" > /dev/null; then
  # An earlier job was stopped: on from its last checkpoint.
  more=(--resume_ckpt)
fi

listed=$(node_addresses)
mapfile -t addresses <<< "$listed"
# The first node's agent waits for all others; each says which one it is.
cd "$SAMPLES"
"${run[@]}" --nproc_per_node=@cores@ \
  --nnodes="$SLURM_JOB_NUM_NODES" --node_rank="$SLURM_NODEID" \
  --master_addr="${addresses[0]}" --master_port=@rendezvous_port@ \
  dp_bert_large_hf_pretrain_hdf5.py "${more[@]}" \
  --data_dir "$DATASETS/$PHASE_DATASET" \
  --output_dir "$output" \
  --metrics_file "$output/results.json" \
  --batch_size "$BATCH_SIZE" \
  --grad_accum_usteps "$GRAD_ACCUM_USTEPS" \
  --lr "$LEARNING_RATE" \
  --warmup_steps "$WARMUP_STEPS" \
  --max_steps "$MAX_STEPS" \
  --steps_this_run "$steps" \
  --seq_len "$SEQ_LEN" \
  --max_pred_len "$MAX_PRED_LEN" 2>&1 | tee "$output/log-node-$SLURM_NODEID.txt"
