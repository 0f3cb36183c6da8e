# shellcheck shell=bash
# Phase 2, strong scaling: 2 sequences a NeuronCore x 32 accumulated x
# 32 NeuronCores x 16 nodes = a global batch of 32768 sequences.
export BATCH_SIZE=2
export GRAD_ACCUM_USTEPS=32
export LEARNING_RATE=2.8e-4
export WARMUP_STEPS=781
export MAX_STEPS=1563
export SEQ_LEN=512
export MAX_PRED_LEN=80
export PHASE_DATASET=bert_pretrain_wikicorpus_tokenized_hdf5_seqlen512
