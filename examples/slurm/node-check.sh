#!/bin/sh
# Is this node fit for a GPU job? 0: as far as is known, 1: no.
#
# Three ways to use it (slurm.conf):
#   Prolog=/etc/slurm/node-check.sh                     before a job; PrologFlags=Alloc: at its allocation, on every node of it
#   HealthCheckProgram=/etc/slurm/node-check.sh         every HealthCheckInterval seconds; it must end within 60
#   a line in nhc.conf, beside this file
#
# A prolog that does not end with 0 drains the node and requeues the job. So only a fault that was found (1) may do that. What
# could not be looked at (3), wrong usage (2) and an examination that took too long (124) are logged, and the job runs: else one
# wrong update of this tool would drain the whole cluster.
#
# It calls no command of Slurm's, which a prolog is not to do. Why a node was drained is in its log: journalctl -t gpudoctor

# Slurm gives its programs no search path.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
gpudoctor=${GPUDOCTOR:-/opt/gpudoctor/bin/gpudoctor}

# As a prolog: nothing to do for a job without GPUs.
if [ -n "${SLURM_JOB_ID:-}" ] && [ -z "${SLURM_JOB_GPUS:-}" ]; then
    exit 0
fi

# The node is examined, not what the job was given of it.
unset CUDA_VISIBLE_DEVICES

# Driver, bus and the GPUs' own state: about a second, and no work on GPUs on which other jobs may run. The job's Python and
# TensorFlow are the job's business (train.sbatch). A driver that does not answer within 10 s is a finding, no hang.
line=$(timeout -k 5 45 "$gpudoctor" check --level quick --only driver --only topology --only measurements \
    --timeout 10 --fail-on fail --format oneline 2>/dev/null)
code=$?

if [ "$code" -ne 0 ]; then
    said="job ${SLURM_JOB_ID:-none}: exit code $code: $line"
    echo "$said" >&2
    logger -t gpudoctor -p daemon.warning -- "$said" 2>/dev/null
fi
[ "$code" -ne 1 ]
