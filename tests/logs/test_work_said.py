"""What speaks for one cause of a slow program, in the words of people, and what only looks like it."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

MIXED, COPIES, LAUNCH, INPUT, COLD, MAC, NO_GPU = (
    "mixed-precision-no-gain", "h2d-pageable", "gpu-launch-bound", "cpu-starved-input", "jit-cold-start", "tf-macos-no-cuda", "tf-cpu-only-package",
)  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (
            LAUNCH,
            "Kernel launch takes 62% of step time\n\nThe overview page of the profiler shows that most of the step is Kernel Launch. How do I reduce it?",
        ),
        (
            LAUNCH,
            "tensorboard profile: Kernel Launch Time\n\nthe biggest part of my step is 'kernel launch'. input time is 0. what does it mean",
        ),
        (
            LAUNCH,
            "gaps between kernels on the timeline\n\nIn the trace viewer the GPU stream is mostly empty, the kernels are short and the host is busy launching them.",
        ),
        (LAUNCH, "Most of my step time goes to launching kernels, not to computing. Model is a small wavenet."),
        (
            LAUNCH,
            "Training is slow on GPU\n\nI train a 2 layer LSTM with 128 units on my RTX 2080, one epoch takes 40 minutes. Cuda 10.0 is installed, TF sees the gpu.",
        ),
        (LAUNCH, "Slow inference when predicting one frame at a time\n\nThe GPU is hardly used."),
        (
            LAUNCH,
            "Why does the RNN take so long?\n\nOnly 3000 sentences, GTX 1070, one hour for 20 epochs. nvidia-smi says the python process has 7 GB.",
        ),
        (LAUNCH, "DDPG: GPU version needs 2 hours for 100k steps, but CPU version needs just 1 hour. Weird."),
        (LAUNCH, "CPU training outperforms GPU\n\nGPU usage about 15%. Did I misconfigure something?"),
        (
            LAUNCH,
            "cpu faster than gpu??\n\ngpu usage is 12 percent in nvidia-smi, my i7 does an epoch in 10 s and the gtx 1060 in 17 s",
        ),
        (
            LAUNCH,
            "GPU speed for seq2seq chatbot\n\nIt trains very slowly on my GTX 1080 (3 hours per epoch). Is that normal?",
        ),
        (
            LAUNCH,
            "What does Kernel Launch mean in the step time graph?\n\nIt is 45% for my model and I don't know what to do with it.",
        ),
        (LAUNCH, "[Question] step time breakdown: device compute 12 ms, kernel launch 30 ms"),
        (LAUNCH, "GPU not faster than CPU for a two-layer perceptron\n\n1000 rows, 10 features. cpu 1.2s gpu 3.5s"),
        (LAUNCH, "Use of GPU makes Q-learning example slower\n\nGPU sits at 8 %"),
        (
            LAUNCH,
            "It takes 30ms per frame for a small MobileNet on RTX 2080\n\nI run predict for each frame with batch size 1; how to get it faster?",
        ),
        (LAUNCH, "char-rnn very slow on titan x, 3 s per step"),
        (LAUNCH, "GPU langsamer als CPU\n\nKleines Netz mit zwei Schichten, GPU 12 s, CPU 5 s pro Epoche."),
        (LAUNCH, "用LSTM训练,GPU比CPU还慢\n\n1080Ti,每个epoch 200秒,CPU只要80秒"),
        (
            MIXED,
            "No speedup with mixed_float16\n\nI set the policy mixed_float16 on an RTX 2070 and each epoch takes the same 41 s as in float32.",
        ),
        (MIXED, "fp16 training is not faster on V100\n\nMemory goes down to the half but the speed does not change."),
        (
            MIXED,
            "Should mixed precision be faster?\n\nAfter mixed_precision.set_global_policy('mixed_float16') training is even a bit slower on my 2080 Ti. Small CNN with 32 filters.",
        ),
        (
            MIXED,
            "enable_mixed_precision_graph_rewrite: no acceleration\n\nOur LSTM on a Tesla V100 takes 0.52 s with it and 0.5 s without.",
        ),
        (MIXED, "float16: 210 images/s, float32: 215 images/s on a T4"),
        (MIXED, "fp32 takes 0.30 s per step, fp16 0.31 s on my 2080"),
        (MIXED, "混合精度训练没有加速\n\n用了mixed_float16,显存少了一半,但是速度没有变快,2080Ti。"),
        (MIXED, "bfloat16 vs float32\n\nI see no difference in step time between mixed_bfloat16 and float32 on A100."),
        (
            MIXED,
            "float16 is slower than float32 on GPU\n\nSimple conv net, GTX 1080. float16 10 it/s, float32 17 it/s. Why?",
        ),
        (MIXED, "Is fp16 supposed to be faster?\n\nWith --fp16 I get 82 images/sec, without 85 on a V100."),
        (MIXED, "[Performance] half precision inference slower than single precision on T4"),
        (MIXED, "Automatic mixed precision gives no improvement in training speed for my GAN on Titan RTX"),
        (
            MIXED,
            "\u0421\u043c\u0435\u0448\u0430\u043d\u043d\u0430\u044f \u0442\u043e\u0447\u043d\u043e\u0441\u0442\u044c \u043d\u0435 \u0443\u0441\u043a\u043e\u0440\u044f\u0435\u0442\n\nmixed_float16 \u043d\u0430 RTX 3070, \u0432\u0440\u0435\u043c\u044f \u0448\u0430\u0433\u0430 \u0442\u043e \u0436\u0435.",
        ),
        (
            COPIES,
            "Copy from host to GPU is slow\n\nFeeding a 200 MB numpy array takes 80 ms, that's 2.5 GB/s on PCIe 3.0 x16. Is the memory pinned?",
        ),
        (
            COPIES,
            "memcpyHtoD takes most of the step\n\nIn the timeline MEMCPYHtoD is 60 ms and the compute 25 ms. How to speed up the transfer?",
        ),
        (
            COPIES,
            "data transfer CPU->GPU is the bottleneck\n\n70% of the iteration is spent in copying the batch to the device.",
        ),
        (
            COPIES,
            "how to use pinned memory in tensorflow?\n\nTransferring tensors to the gpu takes longer than the training step itself.",
        ),
        (
            COPIES,
            "tf.data: prefetch_to_device doesn't help, H2D copy still blocks\n\nThe copies from pageable memory block the stream.",
        ),
        (
            COPIES,
            "Why is the copy of my batch to the GPU so slow?\n\n64 images of 1024x1024x3 float32 need 250 ms to get to the device.",
        ),
        (
            COPIES,
            "PCIe bandwidth not reached by feed_dict\n\nHost to device: 2.8 GB/s measured, bandwidthTest shows 12 GB/s.",
        ),
        (COPIES, "large host->device transfer time\n\nnvprof: [CUDA memcpy HtoD] 71% of the GPU activities"),
        (
            INPUT,
            "GPU utilization mostly 0%, short bursts to 99%\n\nTraining deepspeech on 4 GPUs, epoch 3 after two days.",
        ),
        (
            INPUT,
            "Low gpu usage with 4 cards\n\ncpu is at 95 ~ 100% and gpu is about 12%. images are 4000*3000. learning is too slow",
        ),
        (INPUT, "训练时CPU占用率95%,GPU占用率只有3%,显存几乎占满了,正常吗"),
        (
            INPUT,
            "GPU \u5229\u7528\u7387\u53ea\u6709 5%\uff0cCPU 100%\uff0c\u663e\u5b58\u5feb\u6ee1\u4e86\uff0c\u8bad\u7ec3\u597d\u6162",
        ),
        (INPUT, "CPU 100%, GPU 8%, GPU memory nearly full, why is training so slow?"),
        (INPUT, "gpu util flips between 0 and 100, cpu cores all at 100%, decoding jpegs, epoch takes 3 hours"),
        (INPUT, "GPU 占用率只有 4%,CPU 占用率 100%,显存占满,训练速度慢"),
        (INPUT, "CPU at 98% and GPU at 9%, images 4k resolution, 2 GPUs"),
        (MAC, "Detection takes 5 seconds per image\n\nI run it on my MacBook Pro. Can I make it faster?"),
        (MAC, "Very slow training\n\nmacOS Mojave, one epoch takes 2 hours. Is that expected?"),
        (MAC, "how to speed up inference? on my mac a frame takes 3 s"),
        (MAC, "Slow on iMac\n\nTraining needs 20 s per step, is there a way to use the GPU?"),
        (MAC, "Training is extremely slow on my MacBook Air\n\nEpoch 1/10 takes 40 minutes"),
        (MAC, "mac book pro 2017, inference 8 seconds per image, normal?"),
        (
            NO_GPU,
            "Training is very slow\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\nEpoch 1/50\n  10/1200 [..............................] - ETA: 3:12:11 - loss: 2.3\n  20/1200 [..............................] - ETA: 3:10:02 - loss: 2.2\n",
        ),
        (
            NO_GPU,
            "Why is it so slow, I have a GTX 1080\n\n2017-08-02 10:11:12.131415: W tensorflow/core/platform/cpu_feature_guard.cc:45] The TensorFlow library wasn't compiled to use AVX2 instructions, but these are available on your machine and could speed up CPU computations.\nstep 10 loss 3.2 (12.1 s)\nstep 20 loss 3.1 (12.0 s)\nstep 30 loss 3.0 (12.2 s)\n",
        ),
        (
            NO_GPU,
            "Takes forever to train on my GTX 1060\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\nINFO:tensorflow:global step 1: loss = 12.2 (38.1 sec/step)\nINFO:tensorflow:global step 2: loss = 11.0 (17.3 sec/step)\nINFO:tensorflow:global step 3: loss = 10.0 (17.1 sec/step)\n",
        ),
        (
            NO_GPU,
            "Object detection training too slow\n\nI have a GTX 1050. Is this normal?\nINFO:tensorflow:global step 51: loss = 1.2 (21.1 sec/step)\nINFO:tensorflow:global step 52: loss = 1.0 (20.3 sec/step)\nINFO:tensorflow:global step 53: loss = 1.1 (20.9 sec/step)\n",
        ),
        (
            NO_GPU,
            "Training takes too long, is the GPU used? GTX 960\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\nStep 100: loss 5.1, 9.8 sec/batch\nStep 200: loss 4.9, 9.7 sec/batch\n",
        ),
        (
            NO_GPU,
            "Really slow epochs\n\nUsing TensorFlow backend.\n2019-05-06 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:142] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2\nTrain on 5000 samples\nEpoch 1/100\n 128/5000 [..............] - ETA: 1:02:11 - loss: 0.7\n 256/5000 [>.............] - ETA: 1:01:40 - loss: 0.6\n",
        ),
        (NO_GPU, "Low GPU usage\n\nnvidia-smi shows 310MiB / 11175MiB and 0-3% util, 9W / 250W. Training is slow."),
        (NO_GPU, "显存只用了 96MiB/8117MiB,GPU利用率 3%,训练很慢"),
        (NO_GPU, "Why so slow? GPU memory: 90 MiB of 8 GB, the card draws 6 W"),
        (
            NO_GPU,
            "training takes very long\n\nI just have tensorflow 1.5 installed, an epoch takes an hour. I have a gtx 1070.",
        ),
        (NO_GPU, "Is this normal?\n\n20 s per step. I installed only tensorflow 1.12, the pc has an nvidia card"),
        (
            NO_GPU,
            "epoch of 2 hours\n\nWith tensorflow 1.8. Do I have to set something so that the GPU is used automatically?",
        ),
        (
            COLD,
            "Very slow on RTX 3090\n\ntensorflow-gpu 1.15, CUDA 10.0. With the 2080 Ti it starts in seconds, with the 3090 nothing happens for 10 minutes.",
        ),
        (
            COLD,
            "tf takes minutes on GPU and seconds on CPU\n\nA matmul of two small matrices takes 2 s on CPU and 6 min on my 3070. TF 2.3, cuda 10.1.",
        ),
        (
            COLD,
            "RTX 3060 slower than CPU\n\nTF 2.1 with cuda 10.1. The test script takes 5 minutes on the GPU and 4 s on the CPU.",
        ),
        (
            COLD,
            "Keras start is very slow on V100 compared with K80\n\ntensorflow 1.4, the first batch takes 2 seconds on the K80 and 4 minutes on the V100.",
        ),
        (
            COLD,
            "Slow startup with A100 and TF 1.15 (not NVIDIA's build)\n\nSession creation is fine, the first step takes 8 minutes.",
        ),
        (COLD, "GPU takes 7 minutes before anything happens, RTX 3080, tensorflow 2.2, cuda 10.1"),
        (COLD, "First inference takes 4 min on A100, TF 1.15.5 and CUDA 10.0, later ones 20 ms"),
        (COLD, "3s on CPU and 10 minutes on GPU\n\nimport tensorflow, a + b with two tensors on a RTX A6000."),
        (COLD, "Simple matmul hangs for 5 minutes on RTX 3070, tf-gpu 1.14, then it works"),
    ],
)
def test_it_is_named_first(cause: str, text: str) -> None:
    assert first(text + "\n") == cause


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (MIXED, "Loss is NaN with mixed_float16 on RTX 2080\n\nWith float32 it's fine."),
        (MIXED, "Out of memory even with mixed precision on RTX 2070"),
        (
            MIXED,
            "Training is slow, GPU utilization 20%\n\nI use mixed precision and ImageDataGenerator; the disk is at 100%.",
        ),
        (MIXED, "ValueError: Unknown policy mixed_float16"),
        (COPIES, "GPU utilization is 20%\n\nThe images are read from a network drive, training is slow."),
        (COPIES, "Failed to copy input tensor from CPU:0 to GPU:0, out of memory"),
        (COPIES, "Transfer learning is slow on GPU, 10% utilization"),
        (LAUNCH, "GPU utilization is low\n\nCPU at 100 %, jpegs are decoded and augmented in a generator, GPU 10%."),
        (LAUNCH, "Failed to launch kernel: invalid device function"),
        (LAUNCH, "CUDA error: launch failed\n\nThe kernel launch fails after some steps with my LSTM on RTX 2080"),
        (
            NO_GPU,
            "Training is slow\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\n2018-03-02 10:11:13.131415: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1356] Found device 0 with properties: \nname: GeForce GTX 1080 major: 6 minor: 1 memoryClockRate(GHz): 1.7335\n2018-03-02 10:11:13.2: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1435] Adding visible gpu devices: 0\nEpoch 1/50\n",
        ),
        (COLD, "RTX 3090 slower than expected\n\nTF 2.8, CUDA 11.2, GPU usage 20%."),
        (
            COLD,
            "horovod mnist example\n\nFirst I ran with 4 processes, it took 5 minutes until training was finished. With 1 process it was almost the same time.",
        ),
        (COLD, "First epoch slow\n\nLoading the 50k images takes 12 minutes, GPU usage very low."),
        (COLD, "To read the 30000 pictures takes 15 minutes at the first epoch, GPU is idle meanwhile."),
        (MAC, "Slow training on Ubuntu with GTX 1080\n\nOn my macbook with eGPU it was the same. GPU usage 10%."),
        (MIXED, "mixed_float16 gives NaN loss after 100 steps"),
        (MIXED, "How do I enable mixed precision in this repo?"),
        (MIXED, "GPU memory leak with mixed precision"),
        (MIXED, "Accuracy is lower with float16 than with float32"),
        (COPIES, "Copying the dataset to Google Drive is slow"),
        (COPIES, "slow all-reduce between GPUs\n\nGradients transfer at 3 GB/s over PCIe with 4 GPUs"),
        (COPIES, "How to move a tensor to GPU in eager mode?"),
        (MAC, "GPU usage low on my server, GTX 1080, ubuntu; I connect from my macbook. Training slow"),
        (
            NO_GPU,
            "What does this warning mean?\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\n",
        ),
        (
            NO_GPU,
            "Loss does not go down\n\n2018-03-02 10:11:12.131415: I tensorflow/core/platform/cpu_feature_guard.cc:140] Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA\nEpoch 1/5\n 10/100 - loss 2.3\n 20/100 - loss 2.3\n",
        ),
        (COLD, "Training takes 10 minutes per epoch on RTX 3080, CUDA 11.2, TF 2.6. GPU usage 30%"),
        (NO_GPU, "GPU usage low, 7700MiB / 8117MiB, 12%. Training is slow."),
        (NO_GPU, "Training is slow, the host has 300MiB / 16000MiB left"),
        (NO_GPU, "tensorflow 1.12 on a GTX 1080: training takes 3 hours, GPU utilization 20%"),
        (NO_GPU, "How long does it take with tensorflow 1.4? Thanks!"),
        (COLD, "Reading 100k images takes 20 minutes before training, CPU-bound"),
    ],
)
def test_it_is_not_named_first(cause: str, text: str) -> None:
    assert first(text + "\n") != cause


_CARD = """\
+-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  GeForce GTX 108...  Off  | 00000000:01:00.0  On |                  N/A |
| 30%   35C    P8     9W / 180W |    {used}MiB /  8119MiB |      {busy}%      Default |
+-------------------------------+----------------------+----------------------+
"""


@pytest.mark.parametrize(("used", "busy", "named"), [(" 151", 0, True), ("7805", 12, False)])
def test_a_card_that_holds_nothing_is_not_trained_on(used: str, busy: int, named: bool) -> None:
    text = "Low GPU usage\n\nTraining takes too long, my gpu utilization is under 10% and the CPU at 95%.\n\n"
    assert (first(text + _CARD.format(used=used, busy=busy)) == NO_GPU) is named


_XLA = (
    "2020-12-21 11:43:32.740352: I tensorflow/compiler/xla/service/service.cc:{line}] XLA service 0x21c initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:\n"
    "2020-12-21 11:43:32.747526: I tensorflow/compiler/xla/service/service.cc:176]   StreamExecutor device (0): {card}\n"
)
_LOADED = "2020-12-21 11:43:30.1: I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library {}\n"
_NEW, _OLD = "GeForce RTX 3080, Compute Capability 8.6", "GeForce GTX 1080, Compute Capability 6.1"


@pytest.mark.parametrize(
    ("log", "compiles"),
    [
        (_XLA.format(line=168, card=_NEW), True),
        (_LOADED.format("cudart64_101.dll") + _XLA.format(line=174, card=_NEW), True),
        (_XLA.format(line=174, card=_NEW), False),
        (_XLA.format(line=168, card=_OLD), False),
        (_LOADED.format("libcudart.so.11.0") + _XLA.format(line=168, card=_NEW), False),
    ],
)
def test_a_build_from_before_its_card_stands_still(log: str, compiles: bool) -> None:
    text = "Training does not get beyond the first epoch\n\nIt gets stuck here, nothing more happens.\n\n" + log
    assert (first(text) == COLD) is compiles


def test_what_takes_as_long_with_several_processes_is_no_first_use() -> None:
    text = (
        "horovod example\n\nFirst I ran with np 4, that is 4 nodes with 1 GPU each, and it took 5 minutes until training was finished. "
        "With np 1 the time was nearly the same.\n"
    )
    assert "jit-cold-start" not in said(judged(text))[0]
