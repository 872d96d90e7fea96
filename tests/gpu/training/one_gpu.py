"""Flaw, where there are several GPUs: no strategy, so TensorFlow takes the memory of all and computes on the first."""

from tests.gpu.training import common

if __name__ == "__main__":
    common.train(common.model(), common.good_dataset())
