"""What people say of several GPUs: one works, they gain nothing, they hang, the machine goes down, one is not there; and what is like it."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, shown

ONE, SCALING, LAUNCH, INPUT, SUPPLY = (
    "single-gpu-silently", "scaling-below-expected", "gpu-launch-bound", "cpu-starved-input", "psu-insufficient",
)  # fmt: skip
WRONG, PEERS, LOST, SMALL, ALL_MEMORY = (
    "cuda-visible-devices-wrong", "nccl-p2p-iommu-acs", "xid79-fell-off-bus", "gpu-ignored-few-sms", "tf-preallocates-all-memory",
)  # fmt: skip
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
PLACED = "Operation was explicitly assigned to /device:GPU:{asked} but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, /job:localhost/replica:0/task:0/device:GPU:0 ].\n"

_HEAD = "| NVIDIA-SMI 410.48                 Driver Version: 410.48                    |\n"
_GPU = "|   {0}  GeForce GTX 108...  Off  | 00000000:0{0}:00.0 Off |                  N/A |\n"
_STATE = "| 33%   55C    P2   120W / 250W | {:6d}MiB / 11178MiB | {:6d}%      Default |\n"
TABLE = _HEAD + _GPU.format(0) + _STATE + _GPU.format(1) + _STATE
PROCESSES = (
    "|    0      4242      C   python3                                    10890MiB |\n"
    "|    1      4242      C   python3                                    10790MiB |\n"
)
FOUND = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:885] Found device 1 with properties:\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:916] 1:   Y Y\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # one of several works
        ("Only one GPU is used\n\nI have 2 GPUs here and training is only done on the first.\n", ONE),
        ("How to use both?\n\nI own two 1080 Ti. Just the first one is busy, other is 0%.\n", ONE),
        ("the second card doesn't do anything\n\nI bought a second RTX 3090, its load stays at zero.\n", ONE),
        ("My machine has four TITAN Xp, but just one of them gets used\n", ONE),
        ("train on multi gpus\n\nCUDA_VISIBLE_DEVICES=0,1 python train.py only runs on gpu 0.\n", ONE),
        ("GPU 0: 98%\nGPU 1: 0%\nGPU 2: 0%\nThe memory is allocated on all of them.\n", ONE),
        ("Inference only on the first GPU\n\nA box with 4 T4: all requests go to the first GPU.\n", ONE),
        ("two cards\n\nthe bot trains with the first card only, the second is bored\n", ONE),
        ("GPU 1 memory full 0% util\n\n2 gpus\n", ONE),
        ("The memory of both cards is full\n\nyet only one gpu card works (util > 0)\n", ONE),
        ("[Question] training uses 1 GPU\n\nwhat to modify to use all 8 gpus?\n", ONE),
        ("Does anybody know why just one of my GPUs is used when I train?\n", ONE),
        ("The process occupies 8 GPUs, but 7 of them have zero utilization.\n", ONE),
        ("Only the first GPU is utilized with docker --gpus all\n", ONE),
        ("GPU usage of the second card remains 0 while its memory is full\n", ONE),
        ("Zwei Karten\n\nIch habe zwei RTX 2080 Ti, aber beim Training rechnet nur eine davon.\n", ONE),
        ("多GPU\n\n机器有4张卡, 训练时只用了一张卡, 其他卡的显存占满但利用率为0\n", ONE),
        ("Две GTX 1080, работает только одна видеокарта, вторая простаивает.\n", ONE),
        ("Solo usa una GPU\n\nTengo dos GPU, la otra queda en 0%.\n", ONE),
        ("Un seul GPU utilisé\n\nJ'ai deux GPU, l'autre reste à 0%.\n", ONE),
        ("Só uma GPU trabalha\n\nTenho duas placas, a outra fica parada.\n", ONE),
        ("How do I use 2 GPUs?\n\n" + TABLE.format(9000, 93, 200, 0), ONE),
        ("GPU usage\n\n" + TABLE.format(10900, 22, 10800, 0) + PROCESSES, ONE),
        (
            "[0] GTX 1080 Ti | 70'C,  97 % | 10900 / 11178 MB | me(10890M)\n[1] GTX 1080 Ti | 40'C,   0 % | 10900 / 11178 MB | me(10890M)\n",
            ONE,
        ),
        (f"Does it use one GPU only?\n\nJust one of the GPU's has load.\n{FOUND}", ONE),
        (
            "Multiple GPUs are not used\n\nWith a batch of 2000 it goes out of memory, below only the first card works.\n",
            ONE,
        ),
        ("My box has 6 cards but training happens on gpu 0\n", ONE),
        ("GPUs other than the first are idle\n", ONE),
        ("use several gpus\n\nworker_gpu=3 is set, but nvidia-smi does not show that all are in use\n", ONE),
        ("Eight T4\n\nby nvidia-smi they aren't all used, though the log lists 8 GPUs\n", ONE),
        ("multiple GPUs\n\nTensorFlow detects 3 GPUs but nvidia-smi shows activity on one\n", ONE),
        ("I cannot see in nvidia-smi that more than one GPU is used, with 4 in the machine\n", ONE),
        ("Why does tensorflow only use one GPU? I have two and want both to work\n", ONE),
        ("GPU 2개를 할당했는데 0번만 사용되고 1번은 0% 입니다\n", ONE),
        ("GPU가 4개 있는데 학습할 때 하나만 사용돼요\n", ONE),
        ("multi gpu\n\nGPU 1번은 메모리만 차지하고 사용률은 0% 입니다\n", ONE),
        ("GPUが4枚あるのに1枚しか使われません\n", ONE),
        ("マルチGPUで学習したいが、他のGPUは使われていません\n", ONE),
        ("Why can I not see more than one GPU working in nvidia-smi? I set num_gpus=2\n", ONE),
        ("second gpu idle in training, how to use both\n", ONE),
        ("Почему обучение идет только на одной видеокарте? Их две\n", ONE),
        ("显卡有两张,但训练只用了第一张\n", ONE),
        # no faster than one
        ("MirroredStrategy slows down training\n\nI have 4 of them. A step takes much longer.\n", SCALING),
        ("multi_gpu_model gives no speedup\n\nBoth GPUs show load.\n", SCALING),
        ("Same time with 1 and 2 GPUs\n\n34 min per epoch with one GPU, 33 min with two.\n", SCALING),
        ("Horovod no speed-up\n\nhorovodrun -np 4 is about as fast as -np 1.\n", SCALING),
        ("scaling\n\n1 GPU: 110 examples/s, 8 GPUs: 310 examples/s.\n", SCALING),
        ("scaling\n\n1 GPU: 1.2 s/step, 2 GPUs: 2.1 s/step\n", SCALING),
        ("Adding GPUs does not help\n\nNothing gained from the 3 extra cards.\n", SCALING),
        ("4 GPUs only 10% faster than 1 GPU\n", SCALING),
        ("two GPUs no faster\n\nThe CPU is at 100% on all cores.\n", INPUT),
        ("the time of an epoch goes up when I use more GPUs\n", SCALING),
        ("with --num_gpus=4 each step takes 4 times as long\n", SCALING),
        ("MirroredStrategy\n\nI hoped for 2x with 2 GPUs. It's more like 1.1x.\n", SCALING),
        ("Distributed TF\n\n2 workers are 4x slower than 1 worker\n", SCALING),
        ("MirroredStrategy auf zwei GPUs ist nicht schneller als eine\n", SCALING),
        ("多卡训练\n\n用MirroredStrategy, 两块卡训练速度比单卡还慢\n", SCALING),
        ("Обучение на двух GPU медленнее, чем на одной\n", SCALING),
        ("Entrenar con dos GPU es más lento que con una\n", SCALING),
        ("Avec MirroredStrategy une époque prend autant de temps sur deux GPU\n", SCALING),
        ("Multi GPU training is slower\n\nThree cards: 40 s per epoch, with just one it takes 31 s.\n", SCALING),
        ("Speed of 2 GPUs\n\nIf I use one only it stays at 97% and the steps are faster.\n", SCALING),
        ("My training is faster with a single GPU than with both.\n", SCALING),
        ("Dual GPU\n\nSingle: 310 images/sec. Dual: 290 images/sec.\n", SCALING),
        ("Distributed training\n\n1 node: 800 img/s, 2 nodes: 500 img/s\n", SCALING),
        (
            "Two machines\n\nhorovodrun -np 4 -H a:2,b:2 python t.py --allow_growth=True\nIt is slower than on one machine.\n",
            SCALING,
        ),
        (
            "horovod\n\nThe first run was with 1 process and took 4 minutes, the one with 2 processes took 4 minutes as well.\n",
            SCALING,
        ),
        ("Training on 24 workers is slow\n\nAny tips for MultiWorkerMirroredStrategy?\n", SCALING),
        ("多机训练慢\n\n两台机器比一台机器还慢\n", SCALING),
        ("MultiWorkerMirroredStrategy mit 6 Workern: Training sehr langsam\n", SCALING),
        ("multi_gpu_model\n\nIt does not make the most of the GPUs that are there, why is that?\n", SCALING),
        ("MirroredStrategy doesn't utilize the GPUs well\n\nBoth run at 40%.\n", SCALING),
        ("Horovod with 8 GPUs: utilization is only at 40% on each\n", SCALING),
        ("multi_gpu_model: GPU usage of each card is just 25 %\n", SCALING),
        (
            "Training with 8 V100 is slow\n\nIt seems slower than with 1 GPU. If I raise the batch size, it goes OOM.\n",
            SCALING,
        ),
        (
            "MirroredStrategy takes longer than no strategy on 2 GPUs. By the way a batch of 32 ends in an OOM.\n",
            SCALING,
        ),
        ("GPU 2개로 학습해도 속도가 같습니다\n", SCALING),
        ("MirroredStrategy with 2 GPUs: both at 30%, CPU at 100%, input pipeline is the bottleneck\n", INPUT),
        ("Using 4 GPUs with tf.distribute increases the time per epoch from 100 to 140 seconds\n", SCALING),
        ("global_step/sec: 5.2 on 1 gpu, 0.8 on 8 gpus\n", SCALING),
        ("With MirroredStrategy an epoch takes 200s instead of 150s on my 2 GPUs\n", SCALING),
        ("a script with 2 gpus has the same examples/sec as with 1 gpu\n", SCALING),
        ("Mit vier GPUs dauert eine Epoche länger als mit einer.\n", SCALING),
        ("两块1080Ti训练\uff0c速度反而慢了\n", SCALING),
        ("Training time didn't decrease after adding a second card (tf.distribute).\n", SCALING),
        ("My 2-GPU throughput is 210 images/sec while one gets 200 images/sec\n", SCALING),
        # the machine goes down
        ("Computer reboots while training\n\nWith only one GPU it doesn't.\n", SUPPLY),
        (
            "Training crashing and rebooting server\n\nA few iterations, then it crashes and the server reboots.\n",
            SUPPLY,
        ),
        ("Power off\n\nThe workstation switches off at once when all four cards train.\n", SUPPLY),
        ("spontaneous restart of workstation\n\nunder heavy gpu load only\n", SUPPLY),
        ("Rechner startet beim Training neu\n\nSobald beide GPUs unter Last sind, geht der Rechner aus.\n", SUPPLY),
        ("Компьютер перезагружается при обучении\n", SUPPLY),
        ("Cuando entreno el ordenador se apaga\n", SUPPLY),
        # they hang or spoil each other's data
        ("训练卡住\n\n用两块GPU训练时卡在第一个step不动\n", PEERS),
        ("Mit zwei GPUs bleibt das Training beim ersten Schritt stehen\n", PEERS),
        ("Training hangs at the first epoch with two RTX 4090\n", "p2p-unsupported-geforce"),
        ("Multi-GPU: the loss explodes to NaN, a single GPU trains normally\n", PEERS),
        ("Wrong results\n\nWith MirroredStrategy on 2x A6000 the loss is garbage, one card alone converges.\n", PEERS),
        # some are not there, or another one is asked for
        ("nvidia-smi shows 7 GPUs instead of 8\n\nIt comes back after a reboot.\n", LOST),
        ("One of the cards disappeared\n\nSince a training crashed.\n", LOST),
        ("TensorFlow only detects one of my two GPUs\n\nGTX 1080 and GT 710\n", SMALL),
        ("lspci shows 8 GPUs, nvidia-smi 7\n", LOST),
        ("TensorFlow lists only one GPU out of two: RTX 2080 and Quadro P400\n", SMALL),
        ("the second GPU (GT 1030) is not listed\n", SMALL),
        (f"gpu_id: 1\n{NO_DEVICE}", WRONG),
        (f"GPU_ID=2 python train.py\n{NO_DEVICE}", WRONG),
        (f"parser.add_argument('--gpu', default='3')\n{NO_DEVICE}", WRONG),
        (f"{NO_DEVICE}Setting gpu to 1 gives this.\n", WRONG),
        (f"{NO_DEVICE}Other projects run well on this GPU.\n", WRONG),
        (f"{NO_DEVICE}I train several other models on it.\n", WRONG),
        (PLACED.format(asked=1), WRONG),
    ],
)
def test_several_gpus(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        # of something else, or on purpose
        "How can I make TensorFlow use only one of my GPUs?\n",
        "We set CUDA_VISIBLE_DEVICES=0 so that only one GPU is used, and all is well.\n",
        "I only need one GPU, but it takes the memory of all four.\n",
        "I take the example with two GPUs as it is, but it has only one layer.\n",
        "On my two GPUs only one epoch was run.\n",
        "It runs in only one thread on a machine with two GPUs.\n",
        "The project takes only GPU:0 and GPU:1 of my four GPUs.\n",
        "In the task manager GPU 1 is at 0 % when both GPUs are there.\n",
        "Only one of my two GPUs is detected.\n",
        "I'd like to use only GPU 1 of my two GPUs, how?\n",
        "GPU를 하나만 사용하고 싶습니다\n\nGPU가 2개 있습니다\n",
        "While they last, GPU and CPU of my machine with 2 GPUs idle at 0%.\n",
        "2 GPUs at 97%\n\nOne CPU core is at 100%, the other cores idle.\n",
        "In the task manager GPU 1 shows 3D at 1 %, Copy at 0 %, there are 2 GPUs.\n",
        "Two GPUs, each at 50%\n\nDoes training with two need more RAM than with just one?\n",
        "My colleague uses GPU 0, which one shall I take?\n" + TABLE.format(9000, 93, 200, 0),
        "DataLoader with 8 workers is slow\n\nThe processor is at its limit.\n",
        "Windows 10 machine\n\nSince the update the training is slower.\n",
        # a gain, a question, another comparison
        "Thanks, MirroredStrategy on my four GPUs is 3.8 times faster than one. Great work!\n",
        "Is multi-GPU supported?\n\nDoes this work with more than one GPU?\n",
        "What speedup should I expect of 4 GPUs over one?\n",
        "1 GPU: 205 img/sec, 2 GPUs: 400 img/sec, 4 GPUs: 790 img/sec\n",
        "1 GPU: 10.2 it/s, 2 GPUs: 10.0 it/s\n",
        "My new card isn't faster than the old one, 5 it/s on both.\n",
        "The second epoch takes longer. I have two GPUs.\n",
        "Keras 3 on RTX 4080: the second script is 12x slower.\n",
        "With two GPUs the loss does not go down as with one, and the accuracy is the same.\n",
        # a machine that is restarted, or a program
        "Two GPUs of different speed: does MirroredStrategy wait for the slower one?\n",
        "Windows turned off the screen during the training.\n",
        "Single-GPU and multi-GPU results are identical.\n",
        "After a reboot of the PC the training works again.\n",
        "Training works, but only after I reboot the machine.\n",
        "You must restart the computer before training.\n",
        "A restart of the host gives the GPU back.\n",
        "The kernel restarts when I train on the server.\n",
        "The server is rebooted every Sunday for maintenance, does training resume?\n",
    ],
)
def test_like_it(text: str) -> None:
    roots, candidates = shown(judged(text))
    assert [*roots, *candidates][:1] not in ([ONE], [SCALING], [SUPPLY], [PEERS])


def test_one_that_idles_makes_none_slower() -> None:
    text = "Training is 10 times slower with a second GPU\n\n" + TABLE.format(10700, 93, 10600, 0)
    assert first(text) == SCALING
    assert first("GPUs\n\n" + TABLE.format(10700, 93, 10600, 0)) == ONE


_HELD = "|    {0}   N/A  N/A      4242      C   python3                          {1:5d}MiB |\n"


@pytest.mark.parametrize(
    "text",
    [
        "Why does tensorflow only use one GPU, but takes up two GPUs?\n\n"
        + _HELD.format(0, 249)
        + _HELD.format(1, 7517),
        "A process also shows up on the second GPU\n\nI train on GPU 1 and 250MiB of GPU 0 are taken as well. Why?\n",
        "With tf.device it computes on GPU 1 as it should, but 180 MiB are allocated on GPU 0, too. Why?\n",
        "Why does it hold 120MB on my second GPU when I only use the first?\n",
    ],
)
def test_a_context_is_no_work(text: str) -> None:
    assert first(text) == ""


def test_more_than_a_context_is_taken() -> None:
    both = _HELD.format(0, 10780) + _HELD.format(1, 10790)
    assert first(f"TensorFlow takes the memory of both GPUs, but I only want to use one\n\n{both}") == ALL_MEMORY
    assert first(f"Only one GPU is used\n\nI have two, but the second stays at 0%.\n{both}") == ONE


def test_memory_is_what_it_is_about() -> None:
    text = (
        "OOM with 2 GPUs\n\nIt runs out of memory with MirroredStrategy even with batch size 1, and it is slow, too.\n"
    )
    assert first(text) == "gpu-oom-model-or-data"


def test_a_failure_counts_before() -> None:
    text = "Only one GPU is used, I have two\n\nResourceExhaustedError: OOM when allocating tensor with shape[64,512,512,64]\n"
    assert first(text) != ONE


def test_the_asked_one_is_there() -> None:
    assert first(PLACED.format(asked=1).replace("device:GPU:0 ]", "device:GPU:0, /device:GPU:1 ]")) != WRONG
    assert first(PLACED.format(asked=0)) != WRONG


@pytest.mark.parametrize(
    "other",
    ["gpu_id: 0\n", "Other programs fail too.\n", "gpu_memory: 1\n", "the second GPU (GTX 1080) is not listed\n"],
)
def test_no_other_gpu_is_asked_for(other: str) -> None:
    roots, _ = shown(judged(NO_DEVICE + other))
    assert WRONG not in roots
    assert SMALL not in roots


def test_all_memory_is_another_complaint() -> None:
    assert first("显存都占满了, 怎么办\n\nTensorFlow takes all memory of the GPU, others find none.\n") == ALL_MEMORY
    assert first("两块卡显存都占满了, 但是只有第一块在工作, 第二块一直是0%\n") == ONE


@pytest.mark.parametrize("title", ["MirroredStrategy on the MNIST example takes longer than no strategy\n", "multi_gpu_model with a tiny network is slower than one GPU\n"])  # fmt: skip
def test_a_small_model(title: str) -> None:
    assert first(title) in (SCALING, LAUNCH)
