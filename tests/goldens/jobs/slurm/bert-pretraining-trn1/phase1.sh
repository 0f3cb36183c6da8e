# shellcheck shell=bash
# Phase 1, strong scaling: 16 sequences a NeuronCore x 2 accumulated x
# 32 NeuronCores x 16 nodes = a global batch of 16384 sequences.
export BATCH_SIZE=16
export GRAD_ACCUM_USTEPS=2
export LEARNING_RATE=4e-4
export WARMUP_STEPS=2000
export MAX_STEPS=28125
export SEQ_LEN=128
export MAX_PRED_LEN=20
export PHASE_DATASET=bert_pretrain_wikicorpus_tokenized_hdf5_seqlen128
