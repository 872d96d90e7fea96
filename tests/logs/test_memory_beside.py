"""What is told beside a full memory, and which cause it speaks for; and that a single one is named only where the words decide."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

TOO_LARGE, HELD, TAKEN = "gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory"
HOST, GROWS, APART = "cgroup-memory-limit", "host-memory-leak", "scaling-below-expected"
FILLING = "2021-01-09 18:46:17.778359: I tensorflow/core/kernels/data/shuffle_dataset_op.cc:175] Filling up shuffle buffer (this may take a while): 4021 of 20000\n"
AROUND = (
    "\n\n- OS: Ubuntu 18.04\n- Python: 3.6\n\nI would be glad about any hint, I have been stuck with it for two days."
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # what speed costs beside it
        ("Multi-GPU training is slower than single GPU\n\nMirroredStrategy on 2x 2080 Ti. Batch 4 per card, because bigger batches run out of memory. 1 GPU: 310 ms/step, 2 GPUs: 700 ms/step.", APART),
        ("Training with two cards takes as long as with one. Anything above batch 8 per GPU goes out of memory so I cannot make it larger.", APART),
        ("Multi GPU training crashes with out of memory after I raised the batch from 4 to 8 per card", TOO_LARGE),
        ("TF takes all of the GPU memory, yet gpu-util stays at 1%. So is it running on CPU? It is very slow.", "cpu-starved-input"),
        ("TF takes all of the GPU memory, so my second program can't start", TAKEN),
        # too large
        ("Out of memory in the middle of epoch 3. Then: InternalError: Dst tensor is not initialized. batch size 64, 6 GB card.", TOO_LARGE),
        ("Dst tensor is not initialized\n\nI have two notebooks open on the same GPU. The first one runs, the second gives this.", HELD),
        ("Can one protein be spread over 2 GPUs? With 3000 aa JAX stops with out of memory on the first A100, the other one sits at 500MB.", TOO_LARGE),
        ("Long complex fails: XLA wants 58 GB, the card has 40. Shorter ones work. Is it possible to use the memory of the second GPU too?", TOO_LARGE),
        ("The first GPU is nearly full from the start (30 of 32 GB), then inference of the big volume dies with OOM, could not allocate 18GB.", TOO_LARGE),
        ("Jetson TX2, not enough memory while creating the TensorRT graph. What can I do?", TOO_LARGE),
        # kept by a session that lives
        ("After the script is done in the R console, the GPU's VRAM is not deallocated and I can't run anything else that needs it.", TAKEN),
        ("Clear GPU memory after execution of a cell in Jupyter? Once model.fit is over, the memory remains allocated.", TAKEN),
        ("Spyder console keeps all VRAM when my script is over. How to clean up without restarting?", TAKEN),
        ("Wie gibt man den Grafikspeicher nach dem Training wieder frei? clear_session ändert nichts.", TAKEN),
        # two at once
        ("train.py and eval.py together - gpu out of memory error\n\nobject detection api, one 1080 Ti.", HELD),
        ("Cannot run eval.py in parallel with train.py: CUDA_ERROR_OUT_OF_MEMORY. Only one GPU in the machine.", HELD),
        ("I opened a second terminal to launch the evaluation script and it says it is out of GPU memory.", HELD),
        ("在训练的同时运行eval.py, 报显存不足", HELD),
        ("eval.py runs out of memory on the 4k test images, train.py with crops is fine", TOO_LARGE),
        ("There is still a process of yesterday's run (PID 4411) on the card, each start gives CUDA out of memory.", HELD),
        ("My GPU shows 9.8 GB used with no python running, so training fails with OOM", HELD),
        ("A otra persona en el servidor le ocupa la GPU y a mí me da out of memory", HELD),
        ("How can I start 3 workers of my model on one GPU? The first takes everything, the others die with CUDA out of memory.", HELD),
        # a restart frees it
        ("It trains fine the first time. The next time I run it: OOM. Rebooting solves it.", HELD),
        ("Each time I stop it and start it again the GPU is out of memory until I restart Windows", HELD),
        ("每次重新训练都OOM, 必须重启电脑才可以", HELD),
        ("OOM when I resume from the checkpoint. Restarting the computer didn't change anything. batch size 16", TOO_LARGE),
        # much, little, or any of it
        ("Keras: how can I tell it to take just a part of the GPU?", TAKEN),
        ("GPU memory usage doesn't depend on the batch size - with 1 and with 64 it is always 10.9 GB", TAKEN),
        ("显卡24G, 跑一个mnist就占了22G, 怎么限制", TAKEN),
        ("TensorFlow belegt sofort 7,6 von 8 GB, wie kann ich das begrenzen?", TAKEN),
        ("stylegan2 at 1024 on a 2080 Ti needs too much video memory. Any flag to reduce?", TOO_LARGE),
        # the host's: it grows, or what is left falls
        ("Free memory drops from 30GB to 200MB while it is training, then it crashes with std::bad_alloc", GROWS),
        ("The available memory of my PC shrinks with every trained model until it's killed. I train 50 models in a for loop.", GROWS),
        ("可用内存从14G一直降到100M, 然后程序被杀死", GROWS),
        ("I load all images into a numpy array and the free memory drops to 0 and it's killed", HOST),
        ("Too much memory usage with fit_generator (CPU RAM), workers=8, use_multiprocessing=True", GROWS),
        ("Keras Sequence eats all my RAM with 200k images. How can I reduce it?", GROWS),
        ("std::bad_alloc right when I load the 9 GB checkpoint, machine has 8 GB", HOST),
        ("RAM leak in tf.data with from_generator? After each epoch 3GB more are in use.", GROWS),
        # what ends it
        ("Your notebook tried to allocate more memory than is available. It has restarted.", HOST),
        ("docker run exits with 137 after 'Epoch 1/10', docker memory is set to 2GB in Docker Desktop", HOST),
        ("Ubuntu freezes totally when caching the dataset: RAM 100%, swap 100%", HOST),
        ("My TFJob pods get evicted\n\nThe node was low on resource: memory. How do I set the requests?", HOST),
        ("Worker pods are Evicted after some hours, 'out of memory'. How to give resources in the tf-job yaml?", HOST),
        ("Filling up shuffle buffer: 359987 of 1000000, and there the kernel dies", HOST),
        (f"{FILLING}Then the notebook kernel restarts. What should I do?", HOST),
        (f"{FILLING}./run.sh: 12: 20117 killed     python3 train.py --data=x", HOST),
        ("填充 shuffle buffer 的时候内核崩溃", HOST),
    ],
)  # fmt: skip
def test_what_is_named_first(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    "text",
    [
        "What is the shuffle buffer, and how large should it be?",
        f"{FILLING}Is that an error? Training goes on afterwards, all fine.",
        "Which is the amount of RAM that fit_generator should need?",
        "How much VRAM is required to train the base model?",
        "K.clear_session() solved my problem, the VRAM is freed now. Thanks!",
        "Thanks, with a request of 8Gi no pod of ours is evicted any more.",
    ],
)
def test_nobody_complains(text: str) -> None:
    assert first(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Out of memory again\n\nIt says that the GPU is out of memory when I run the program.",
        "Resuming after an abort fails with out of memory; reboot, then resume works.",
        "Memory error when I launch a second training on the one GPU",
        "RAM usage is huge when training with ImageDataGenerator, how to lower it?",
    ],
)
def test_the_words_leave_open_which_it_is(text: str) -> None:
    roots, candidates = said(judged(text + AROUND))
    assert roots == []
    assert candidates


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("GPU memory overflow with large images\n\nThe 3D u-net fits for crops of 96, for 128 it is out of memory on the 1080 Ti", TOO_LARGE),
        ("I killed my notebook but nvidia-smi still shows the GPU memory in use, so each new start says out of memory", HELD),
        ("Free RAM goes down steadily from 12G to 0 during the search and the process gets killed", GROWS),
    ],
)  # fmt: skip
def test_the_words_tell_which_goes_first(text: str, cause: str) -> None:
    assert first(text + AROUND) == cause


@pytest.mark.parametrize(
    "text",
    [
        "Loss becomes NaN after 200 steps\n\nI use batch size 2 because with 4 it is out of memory on my 8 GB card. fp16 is on.",
        "Evaluation mAP is 0. I reduced the batch size from 24 to 2 due to OOM.",
        "CUDA_ERROR_ILLEGAL_ADDRESS after some hours. TF takes all the memory of the card, I don't know if that matters.",
        "I get 'Killed' - sorry, that was me, I stopped the job by kill. The question is how to resume from the checkpoint.",
        "It uses 9 GB of GPU memory but the log says 'Adding visible gpu devices: 0' and then runs on CPU only? util is 0 %.",
    ],
)
def test_memory_that_is_mentioned_beside_is_not_the_cause(text: str) -> None:
    roots, _ = said(judged(text + AROUND))
    assert not {TOO_LARGE, HELD, TAKEN, HOST, GROWS} & set(roots)
