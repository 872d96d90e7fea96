"""What people say of memory, and programs other than TensorFlow: what is named first of it, and what is no complaint."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

TOO_LARGE, HELD, TAKEN = "gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory"
HOST, GROWS = "cgroup-memory-limit", "host-memory-leak"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 7.79 GiB total capacity; 6.10 GiB already allocated; 211.31 MiB free; 6.35 GiB reserved in total by PyTorch)", TOO_LARGE),
        ("Inference fails on 4GB card\n\nRuntimeError: CUDA out of memory. Tried to allocate 30.00 MiB (GPU 0; 4.00 GiB total capacity; 2.88 GiB already allocated; 0 bytes free; 2.97 GiB reserved in total by PyTorch)\n\nwhen I run demo.py. Windows 10, GTX 1650", TOO_LARGE),
        ("cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58\n\nwith the default config on a 1080", TOO_LARGE),
        ("GPU memory requirements\n\nWhat's the minimum VRAM to train this? My 8 GB RTX 2070 runs out of memory at the start of the training.", TOO_LARGE),
        ("Video memory is not sufficient\n\nWhen I upscale 4k video, the program reports that there is not enough video memory. I have a GTX 970.", TOO_LARGE),
        ("ResourceExhaustedError (see above for traceback): OOM when allocating tensor with shape[10,1024,1024,64]", TOO_LARGE),
        ("W tensorflow/core/common_runtime/bfc_allocator.cc:419] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.80GiB (rounded to 4080218880).  Current allocation summary follows.", TOO_LARGE),
        ("what():  Could not allocate GPU buffer for basecalling\n\nguppy_basecaller dies with the sup model on my RTX 2060", TOO_LARGE),
        ("bonito: RuntimeError: CUDA out of memory on a 6 GB GTX 1660 when basecalling with --batchsize default", TOO_LARGE),
        ("darknet: CUDA Error: out of memory\n\ndarknet: ./src/cuda.c:36: check_error: Assertion `0' failed.\nAborted (core dumped)\n\nI train yolov3 with batch=64 subdivisions=8", TOO_LARGE),
        ("F0512 11:31:10.1 syncedmem.cpp:56] Check failed: error == cudaSuccess (2 vs. 0)  out of memory", TOO_LARGE),
        ("cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 2,147,483,648 bytes).", TOO_LARGE),
        ("numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY", TOO_LARGE),
        ("cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 9663676416\nllama_new_context_with_model: failed to allocate compute buffers", TOO_LARGE),
        ("DeepFaceLab Error: OOM when allocating tensor with shape[8,256,128,128]. I have 1060 3gb, which settings shall I use?", TOO_LARGE),
        ("Prediction of large volume OOM\n\nmodel.predict on the 512x512x300 volume gives me an OOM but training with patches works", TOO_LARGE),
        ("Is there any way to train with a 4GB GPU?\nIt always throws out-of-memory.", TOO_LARGE),
        ("spleeter crashes for long songs: it eats all the GPU memory, ResourceExhausted: OOM when allocating tensor with shape[60,512,1024,16]", TOO_LARGE),
        ("Exception: OOM. Please help!! cuda memory is full when I start training with tacotron", TOO_LARGE),
        ("训练到第二个epoch就显存溢出 OOM", TOO_LARGE),
        ("Zu wenig Grafikspeicher? Beim Training kommt immer CUDA out of memory, obwohl die Karte 8 GB hat.", TOO_LARGE),
        ("Mémoire GPU insuffisante pendant l'entraînement (carte de 6 Go), comment réduire ?", TOO_LARGE),
        ("CUDA memory leak in evaluation loop\n\nThe gpu memory grows with every batch until it's full and crashes.", TOO_LARGE),
        ("GPU memory not released between folds, 3rd fold of cross validation goes OOM", TOO_LARGE),
        ("显存一直增长, 训练几千步以后 out of memory", TOO_LARGE),
        ("memory leak when using model.fit with tf.data: after 20 epochs 64GB RAM are full", GROWS),
        ("The server's memory usage grows with every request until the OOM killer kills it (TF serving in Flask)", GROWS),
        ("内存泄漏: 每个epoch内存增加2G, 最后进程被杀死", GROWS),
        ("La memoria RAM aumenta en cada época hasta que el proceso muere", GROWS),
        ("Reduce gpu memory usage\n\nCan I tell it to only use as much memory as it needs? It takes 7.5 of 8 GB.", TAKEN),
        ("allow_growth option\n\nPlease add the option gpu_options.allow_growth, as the program blocks the whole GPU for the others.", TAKEN),
        ("GPU memory fraction for ml agents training? It uses 11 GB out of 11 GB.", TAKEN),
        ("NER model inference grabs all available GPU memory. Can we configure it?", TAKEN),
        ("Memory usage of Universal Sentence Encoder\n\nloading it on GPU occupies 30GB of V100's memory. how can I make it smaller?", TAKEN),
        ("Программа занимает всю видеопамять, как ограничить?", TAKEN),
        ("Comment limiter la mémoire GPU ? TensorFlow prend toute la mémoire de la carte.", TAKEN),
        ("rasa train uses all GPU memory", TAKEN),
        ("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 320.50 MiB already allocated; 9.31 MiB free; 340.00 MiB reserved in total by PyTorch)", HELD),
        ("I killed my jupyter notebook but nvidia-smi still shows the GPU memory in use, so each new start says out of memory", HELD),
        ("Limit:                     6291456\nInUse:                     6201344\nMaxInUse:                  6201344\nNumAllocs:                      21\nMaxAllocSize:              2359296\n\nResourceExhaustedError: OOM when allocating tensor with shape[3,3,256,256] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc", HELD),
        ("Killed\n\nWhen I run python train.py, after loading the data it just prints 'Killed'.", HOST),
        ("Training is terminated with 'Killed' on WSL2, 8 GB RAM of 16 given to WSL", HOST),
        ("MemoryError: Unable to allocate 28.6 GiB for an array with shape (100000, 160, 160, 3) and data type float32", HOST),
        ("docker container exits with code 137 while training", HOST),
        ("W tensorflow/core/framework/allocator.cc:107] Allocation of 4915200000 exceeds 10% of system memory.\nKilled", HOST),
        ("内存不足, 加载数据时进程被Killed", HOST),
        ("OSError: [Errno 12] Cannot allocate memory when the dataloader forks workers", HOST),
        ("Cannot train on 8GB card\n\nThe program crashes with ResourceExhaustedError at the first iteration. Any parameters I should change?", TOO_LARGE),
        ("Out of memory on Colab T4 when fine tuning, even batch size = 1 and gradient checkpointing on", TOO_LARGE),
        ("I've got a 3060 12GB but still receive the out of memory message, how come? Batch size is 8.", TOO_LARGE),
        ("OOM with larger batch size than 2 — expected?", TOO_LARGE),
        ("model too large for GPU memory, how to split over 2 GPUs?", TOO_LARGE),
        ("Waifu2x: 'cuda out of memory' for images > 2000px", TOO_LARGE),
        ("vulkan: vkAllocateMemory failed, not enough video memory to upscale", TOO_LARGE),
        ("ResourceExhaustedError: failed to allocate memory [Op:Mul]", TOO_LARGE),
        ("CuPy OutOfMemoryError in spike sorting, recording has 384 channels, 8GB card", TOO_LARGE),
        ("cryosparc: cuMemAlloc failed: out of memory. Box size 600", TOO_LARGE),
        ("hi, i got a problem: gpu out off memory, how can i fix", TOO_LARGE),
        ("Fails because the GPU has just 3GB. Any low-memory mode?", TOO_LARGE),
        ("训练时显存爆了, bs 调到1也不行", TOO_LARGE),
        ("Недостаточно видеопамяти для обучения модели, 4 Гб", TOO_LARGE),
        ("GPU 메모리 부족 에러: CUDA out of memory. 배치사이즈 2, RTX 2070", TOO_LARGE),
        ("Each time I call synthesize() the VRAM rises by 200MB and never goes down", TOO_LARGE),
        ("RAM usage explodes over time, 4GB more after every epoch", GROWS),
        ("Possible memory leak with tf.keras.models.load_model in loop", GROWS),
        ("CPU RAM increases with every step of training, VRAM doesn't", GROWS),
        ("Why so much GPU memory?\n\nThe model file is 90 MB but my 1080ti shows 10.7GB used after loading.", TAKEN),
        ("gpu memory fraction parameter", TAKEN),
        ("How do I stop TF from taking the entire GPU?", TAKEN),
        ("It reserves the GPU's memory completely although the network is tiny", TAKEN),
        ("how can i reduce memory usage in gpu for prediction? 4 processes should share a T4", TAKEN),
        ("为什么推理也要占用10G显存?能不能按需分配", TAKEN),
        ("Usa toda la memoria de la tarjeta, ¿se puede limitar?", TAKEN),
        ("GPU memory stays occupied after the training has finished, next run fails with out of memory", HELD),
        ("python crashes silently; dmesg: oom-kill task=python", HOST),
        ("Kernel dies when I load the 20GB npz file on a 16GB laptop", HOST),
        ("is 32GB RAM not enough? It gets Killed at 'building vocabulary'", HOST),
    ],
)  # fmt: skip
def test_what_is_named_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "Question: does a model with batch size 32 fit on a 8 GB card?",
        "How much GPU memory does the pretrained model have to have? I want to buy a card.",
        "W tensorflow/core/common_runtime/bfc_allocator.cc:211] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory is available.\nEpoch 1/10 loss 0.5",
        "Which GPU did you use and how long was training?",
        "The memory network stores 20 sentences. How is the memory updated at each step?",
        "Is the kernel size 9 killed performance-wise? What does the ablation say?",
        "Found device 0 with properties: \nname: GeForce GTX 1080 Ti major: 6 minor: 1\ntotalMemory: 10.91GiB freeMemory: 10.60GiB\nAll good.",
        "feature request: print the GPU memory in use in the progress bar",
        "Сколько видеопамяти нужно для обучения?",
        "W tensorflow/core/framework/allocator.cc:107] Allocation of 19660800 exceeds 10% of system memory.\nTraining goes on well. What does the message mean?",
        "ValueError: Shapes (None, 10) and (None, 2) are incompatible. I use 8GB GPU",
        "How can I resume training? I killed the process at epoch 20.",
        "Is multi GPU inference supported? One GPU is enough for the memory but I want more speed.",
        "How much RAM should the machine have?",
        "Do you have numbers for memory and speed on a Jetson?",
        "Why do you freeze the memory module in stage 2?",
        "PR: reduces memory footprint by using uint8 masks.",
        "Thank you! With batch size 4 the out of memory error is gone.",
        "What does 'memory_key' in config mean?",
        "Training finished in 3 h, peak memory 9 GB. Results are lower than reported (71.2 vs 73.5).",
        "how to choose the memory size in the LSTM?",
        "doc: mention that set_memory_growth must be called before GPUs are initialized",
        "Which files are needed for inference only? The checkpoint is 1.2GB.",
        "Any plan for fp16 to reduce the model size?",
        "AssertionError: batch size must be divisible by number of GPUs",
        "KeyError: 'memory' in config.py line 33",
    ],
)  # fmt: skip
def test_nobody_complains(text: str) -> None:
    assert first(text) == ""


@pytest.mark.parametrize(
    ("numbers", "roots"),
    [
        ("Tried to allocate 20.00 MiB (GPU 0; 2.00 GiB total capacity; 941.00 MiB already allocated; 0 bytes free; 960.00 MiB reserved", [TOO_LARGE]),
        ("Tried to allocate 2.40 GiB (GPU 0; 3.81 GiB total capacity; 131.00 MiB already allocated; 2.10 GiB free; 412.00 MiB reserved", [TOO_LARGE]),
        ("Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 320.50 MiB already allocated; 9.31 MiB free; 340.00 MiB reserved", [HELD]),
        ("Tried to allocate 20.00 MiB (GPU 0; 11.17 GiB total capacity; 3.50 GiB already allocated; 6.10 GiB free; 3.60 GiB reserved", []),
    ],
)  # fmt: skip
def test_the_numbers_of_pytorch(numbers: str, roots: list[str]) -> None:
    assert said(judged(f"RuntimeError: CUDA out of memory. {numbers} in total by PyTorch)\n"))[0] == roots


@pytest.mark.parametrize(("limit", "cause"), [("6291456", HELD), ("7845623296", TOO_LARGE)])
def test_an_allocator_that_was_left_nothing(limit: str, cause: str) -> None:
    failed = "ResourceExhaustedError: OOM when allocating tensor with shape[64,64,3,3] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
    assert said(judged(f"Limit:                     {limit}\nInUse:                     {limit}\n{failed}\n"))[0] == [
        cause
    ]
