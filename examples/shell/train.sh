#!/usr/bin/env bash
# Starts a training with the variables that make its environment work, and not at all where no variable does.
#
#   ./train.sh --epochs 10
set -euo pipefail

# `gpudoctor env` examines for about a second and prints export lines, often none. In eval "$(…)" its exit code would be lost:
# 1 says that something is wrong that no variable mends; which, it said on standard error.
if ! lines=$(gpudoctor env); then
    echo "train.sh: the GPUs can't be used as they are; gpudoctor check says more. TRAIN_ANYWAY=1 trains without." >&2
    [ -n "${TRAIN_ANYWAY:-}" ] || exit 1
fi
eval "$lines"

exec python3 train.py "$@"
