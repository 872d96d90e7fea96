"""Who finds one GPU slow, idle or no faster than the processor, and whose start takes minutes: in whatever words; and who does not."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

INPUT, LAUNCH, COLD, HEAT, POWER, QUOTA = (
    "cpu-starved-input", "gpu-launch-bound", "jit-cold-start", "gpu-throttling-thermal", "gpu-throttling-power", "cgroup-cpu-quota",
)  # fmt: skip
OF_SPEED = {INPUT, LAUNCH, COLD}


@pytest.mark.parametrize(
    "text",
    [
        "GPU usage is only 10% during training\n\nHow can I make it use more of the GPU?",
        "GPU-Util goes up and down between 0% and 90%\n\nIs this normal? An epoch takes ages.",
        "gpu hardly doing anything\n\nnvidia-smi while train.py runs: gpu-util jumps to 60% for a second, then stays at 0% for five.",
        "The GPU is not fully utilized\n\nWith the object detection API my gpu stays below 30 percent. Is there a way to increase it?",
        "The GPU is not fully used, 60% only",
        "GPU is used periodically\n\nThe usage graph of CUDA goes like a saw. Can it be made steady?",
        "GPU not being used constantly\n\nThe card is only active for a moment at each batch. I use the data generator of the repo.",
        "gpu utilization\n\nGPU memory usage 10 GB/11 GB but the utilization is 0% - 12%. Is it really using the gpu?",
        "mask rcnn training is slow\n\nsteps take 6 s each on a GTX 1080. GPU utilization 0% mostly, use_multiprocessing is False.",
        "GPU utilization keeps dropping to 0%\n\nwhile training the ASR model",
        "How to increase GPU utilization?\n\nNow it's 13% with batch size 64. I have plenty of memory left.",
        "Can't get GPU above 40%\n\nTried bigger batches and prefetch, the training is slow as before.",
        "Model training does not saturate the GPU",
        "GPU underutilised while training YOLO",
        "I commented the line in, but it isn't faster: GPU usage stays at some 10% with a RTX 2080Ti. At first I thought that the GPU is not used.",
        "My training doesn't get faster with a better GPU\n\nI moved from a GTX 1060 to an RTX 3080 and the time per epoch is just the same.",
        "Same speed on V100 and K80\n\nTraining our detector takes the same time on both.",
        "What is the bottleneck?\n\nCPU 30%, GPU 25%, SSD 100%. Training UNet.",
        "训练YOLO的时候GPU利用率一会0一会100,怎么解决?",
        "Weird GPU usage graph\n\nThe usage looks like spikes, 0 for 3 seconds and 90% for one.",
        "GPU nur zu 15% ausgelastet\n\nDas Training dauert ewig.",
        "GPU wird kaum genutzt\n\nTraining läuft, aber die Grafikkarte ist nur kurz bei 30% und dann wieder bei 0%.",
        "训练时GPU利用率很低\n\nGPU利用率只有10%左右,显存占满了,CPU很高,速度很慢。",
        "GPU利用率忽高忽低,训练速度很慢,请问是什么原因?",
        "\u0412\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\u0430 \u043f\u043e\u0447\u0442\u0438 \u043d\u0435 \u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\u0435\u0442\u0441\u044f \u043f\u0440\u0438 \u043e\u0431\u0443\u0447\u0435\u043d\u0438\u0438\n\n\u0417\u0430\u0433\u0440\u0443\u0437\u043a\u0430 GPU \u043f\u0440\u044b\u0433\u0430\u0435\u0442 \u043e\u0442 0 \u0434\u043e 40%, \u043f\u0440\u043e\u0446\u0435\u0441\u0441\u043e\u0440 \u0437\u0430\u0433\u0440\u0443\u0436\u0435\u043d \u043f\u043e\u043b\u043d\u043e\u0441\u0442\u044c\u044e.",
        "Uso de GPU muy bajo\n\nAl entrenar la red el uso de la GPU no pasa del 8%.",
        "Utilisation GPU très faible pendant l'entraînement\n\nMon GPU n'est utilisé qu'à 10 %, alors que le CPU est à 100 %.",
        "Slow phases\n\nFor hours CPU and GPU are nearly idle, while one single thread is at 100%. It is not heat. 2x GTX 1080",
        "Training pauses\n\nGPU idle, a single thread at 100% CPU, then it goes on at full speed.",
        "GPU使用率が低い\n\n学習中のGPU使用率が10%前後しかない。",
        "GPU idle time with a generator\n\nI try for the first time to use a gpu at 100%. A class of mine, derived from Sequence, makes the batches.",
        "Niedrige GPU-Auslastung\n\nMein Generator lädt Bilder. Die GPU-Auslastung springt zwischen 0 und 90 Prozent, die CPU ist voll.",
        "the gpu-util is 0 for ten seconds, then 95 for one.",
        "While training, nvidia-smi goes from 0% to 80% and back to 0% every few seconds.",
        "GPU利用率在0和90%之间跳\uff0cCPU全满",
        "The GPU works just 1 second out of 5, I use cv2 to decode a video.",
        "nvidia-smi dmon shows sm going 0 0 0 98 0 0 0 95 while training",
        "an epoch lasts 1h, of which 50 min are spent in the data loader",
        "Without augmentation an epoch takes 30 s, with it 6 minutes",
        "CSV in chunks\n\nWith train_on_batch the GPU load is near zero, pandas reads chunk by chunk.",
        "GPU空闲\n\n数据预处理太慢\uff0cGPU大部分时间空闲",
        "Der Datengenerator ist zu langsam, die GPU wartet die meiste Zeit.",
        "El generador de datos es el cuello de botella, la GPU espera casi todo el tiempo.",
        "The utilization jumps between 0% and 100%. The images are opened with PIL.",
        "GPU sits there waiting\n\nReading from an NFS share takes forever.",
        "Same speed on both cards\n\nAn epoch takes the same time on a GTX 970 and on an RTX 2080, the images are augmented on the fly.",
        "My gpu-util is about 20%, then 0% for a second. Its fan goes fast-slowly-fast-slowly.",
    ],
)
def test_it_waits_for_its_data(text: str) -> None:
    assert first(text + "\n") == INPUT


@pytest.mark.parametrize(
    "text",
    [
        "Why is the GPU not faster?\n\nSimple MNIST example, cpu: 8 s per epoch, gpu: 9 s per epoch.",
        "tensorflow-gpu is slower than tensorflow\n\nThe same script needs 30 s with tensorflow and 70 s with tensorflow-gpu.",
        "PPO training does not benefit from GPU\n\nusing PPO2 with MlpPolicy, gpu util is 8% and fps same as on cpu",
        "time per step\n\ncpu 30ms/step\ngpu 55ms/step\nrnn with 50 units, sequence length 200",
        "训练BiLSTM\uff0cGPU还没有CPU快",
        "LSTM: GPU每个epoch 30s\uff0cCPU 12s",
        "my small embedding model runs quicker on the processor than on the Tesla T4",
        "An agent needs 1 hours with tensorflow-GPU(1080TI * 4), but with tensorflow-CPU(i7-6800K) just 0.5 hour.",
        "The agent gets 180 steps per second on CPU and only 95 steps per second with tensorflow-gpu.",
        "bs=1 inference: GPU 12ms CPU 5ms",
        "为什么用GPU\uff0c速度反而会变慢\uff1f\n\n我跑得非常慢\uff0c比用CPU还要慢。",
        "I see no difference in speed between tensorflow and tensorflow-gpu with my tiny net",
        "RL agent: GPU utilization 5%\n\nThe environment is Atari and I use A2C. Is that expected?",
        "predict in a for loop takes forever with GPU\n\nI have 10000 samples, batch size 1. GPU usage is 3 %",
        "PPO2, MlpPolicy, RTX 2070\n\nGPU is used 4%, one of my 8 CPU cores is at 100%.",
        "TD3 low gpu usage\n\nutil is 3-6 % and just one CPU core is busy at 99%, 11 others idle.",
        "GPU 9%, single-core load 100%, MlpLstmPolicy",
        "Task manager says 7% for the GPU, so it is way slower than with my CPU. GTX 960",
        "GPU usage 11 %\n\n>python text_lstm_v2.py\nUsing TensorFlow backend.\nIt is slower than with the CPU, the task manager shows 11 % too.",
        "Self-play is slow\n\nMCTS calls predict for one position after another. GPU is at 4%. Same speed when I use CPU.",
        "No difference between CPU and GPU\n\nI train a DQN agent on CartPole and the GPU makes no difference in time.",
        "GPU doesn't give any speedup for reinforcement learning (DDPG)",
        "Using GPU with Keras slows training\n\nI switched the runtime in Colab to GPU and the LSTM now takes twice the time.",
        "x2 slower with GPU\n\nA Keras LSTM takes x2 as long as without hardware acceleration",
        "GPU and CPU take the same time\n\nIs there anything I need to configure? Iris dataset, 3 layers.",
        "A2C gets 900 fps on CPU and 850 fps on GPU",
        "RNN training isn't sped up by my GPU",
        "GPU brings nothing\n\nMNIST tutorial, same time as with the CPU",
        "Speed of ga3c\n\nWith a GTX 1080 I get the same number of environment steps per second as with CPU only.",
        "Mit GPU dauert eine Epoche 20 s, ohne GPU 15 s (kleines LSTM)",
        "\u041d\u0430 GPU \u043e\u0431\u0443\u0447\u0430\u0435\u0442\u0441\u044f \u043c\u0435\u0434\u043b\u0435\u043d\u043d\u0435\u0435 \u0447\u0435\u043c \u043d\u0430 CPU\n\n\u041f\u0440\u043e\u0441\u0442\u0430\u044f \u0441\u0435\u0442\u044c, \u043d\u0430 \u043f\u0440\u043e\u0446\u0435\u0441\u0441\u043e\u0440\u0435 5 \u0441\u0435\u043a\u0443\u043d\u0434 \u043d\u0430 \u044d\u043f\u043e\u0445\u0443, \u043d\u0430 \u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\u0435 11.",
        "GPU比CPU还慢\n\n用keras跑mnist,gpu每个epoch 10秒,cpu 6秒,为什么?",
    ],
)
def test_it_waits_for_the_program(text: str) -> None:
    assert first(text + "\n") == LAUNCH


@pytest.mark.parametrize(
    "text",
    [
        "Why is it faster on CPU?\n\nA regression with 10 neurons on a GTX 1060",
        "Weird: my i5 trains the perceptron faster than my GTX 1660",
        "Slow predict\n\nOne sample takes 45 ms on my 2080 Ti and 12 ms on CPU.",
        "GPU gives the same performance as the CPU\n\nnvidia-smi lists the python process. But the training is as slow as without it.",
        "There's no improvement with GPU\n\nTraining takes just as long with the GPU as with the CPU. Memory is allocated on the card.",
        "GPU slow on Tensorflow 2.x\n\nGPU is recognised, 30 s/step. my friend has the same card and needs 2 s.",
        "It's weird\n\nthe log shows that the GPU device was created, but there's no acceleration",
        "Using GPU only gives me 1.2x\n\nI expected at least 10x with the RTX 3070 compared to my 8-core CPU.",
        "Train on server\n\nThe same program takes the same time on a MacBook Pro and on a machine with a GPU, which nvidia-smi shows in use.",
    ],
)
def test_it_is_no_faster(text: str) -> None:
    assert first(text + "\n") in {INPUT, LAUNCH}


@pytest.mark.parametrize(
    "text",
    [
        "Long initialization\n\n`tf.Session()` takes over 3 minutes to return. Everything afterwards works normally.",
        "Opening the GPU takes very long (nearly 10 minutes), I guess that kernels get compiled.",
        "slow first inference\n\nwith one image a time it takes almost 14 minutes for the first, and less than 1 second for each after that.",
        "Slow model loading on GPU\n\nThe first call takes 4-5 minutes with one core at 100%; then everything's fast",
        "First inference very slow on GPU\n\nfirst: 312 seconds, second: 0.04 seconds, third: 0.04",
        "the app freezes on creating the GPU device for 3-4 minutes. Once up it's very quick.",
        "long delay before first batch on 3080\n\nmaybe 8 min. next batches 0.2s",
        "erste Inferenz dauert 8 Minuten\n\nDanach läuft jedes Bild in 50 ms. RTX 3080.",
        "启动要等10分钟才开始训练,之后速度正常,RTX3090 tf1.15",
        "\u041f\u0435\u0440\u0432\u044b\u0439 \u0437\u0430\u043f\u0443\u0441\u043a \u0434\u043b\u0438\u0442\u0441\u044f 10 \u043c\u0438\u043d\u0443\u0442\n\n\u043f\u043e\u0442\u043e\u043c \u0432\u0441\u0435 \u0440\u0430\u0431\u043e\u0442\u0430\u0435\u0442 \u0431\u044b\u0441\u0442\u0440\u043e. \u0412\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\u0430 RTX 3060, TF 2.3",
        "RTX 3060: 最初の実行に10分かかる、その後は速い",
        "第一次推理要3分钟,后面每次只要50ms,显卡3080",
        "My 3090 hangs for 10 minutes at the start and then goes on",
        "El primer paso tarda 7 minutos\n\nDespués cada paso tarda 0.1 s. RTX 3070 y TF 2.1.",
        "La primera inferencia tarda 4 minutos, después va rápido.",
        "第一次预测要好几分钟\uff0c后面都很快",
        "在3090上第一次运行需要等十几分钟\uff0c然后正常",
        "first step 180 s, all others 0.3 s",
        "first sess.run: 240 s\nsecond sess.run: 0.05 s",
        "A primeira inferência demora 9 minutos, depois fica rápida. Placa RTX 3090",
    ],
)
def test_its_code_is_compiled(text: str) -> None:
    assert first(text + "\n") == COLD


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Slow when laptop is unplugged\n\nTraining is half as fast on battery.", POWER),
        ("My card gets slow after an hour, 90 °C", HEAT),
        ("Slow on GPU\n\nkubernetes pod with cpu limit 1, nr_throttled is 9000 of nr_periods 10000", QUOTA),
    ],
)
def test_the_host_slows_it(text: str, cause: str) -> None:
    assert first(text + "\n") == cause


@pytest.mark.parametrize(
    "text",
    [
        "GPU not used\n\nTraining runs only on the CPU. tf.config.list_physical_devices('GPU') returns [].",
        "GPU at 1%, CPU at 100%: tensorflow doesn't see my GPU",
        "Training is slow, GPU isn't used at all\n\nnvidia-smi shows no python process and 0 MB.",
        "Training at 100% CPU, GPU 0%. TensorFlow 2.11 in Windows",
        "Slow training with docker compose\n\nMy container doesn't see the GPU, so an epoch takes 2 h.",
        "RTX 3080: first run takes 5 min, then it crashes with CUDNN_STATUS_EXECUTION_FAILED",
        "Only one GPU works\n\nI have 2 GPUs, memory is used on both, but only GPU 0 has utilization, the other one 0%.",
        "TF can't be used after suspend\n\nThe GPU no longer works once the laptop wakes up, a reboot helps",
        "Updated the driver, no difference: the GPU is not detected",
    ],
)
def test_it_is_another_matter(text: str) -> None:
    assert first(text + "\n") not in {*OF_SPEED, ""}


@pytest.mark.parametrize(
    "text",
    [
        "Training time\n\nHow long did it take to train on the V100? And what was the batch size?",
        "\u0421\u043a\u043e\u043b\u044c\u043a\u043e \u0432\u0440\u0435\u043c\u0435\u043d\u0438 \u0437\u0430\u043d\u0438\u043c\u0430\u0435\u0442 \u043e\u0431\u0443\u0447\u0435\u043d\u0438\u0435 \u043d\u0430 \u043e\u0434\u043d\u043e\u0439 RTX 3090?",
        "The GPU version is 20x faster than the CPU version on my RTX 2080. Thanks!",
        "Release notes\n\n- LSTM layers are now 3x faster on GPU\n- fixed low GPU utilization of the data loader",
        "Add option to limit GPU utilization\n\nFeature request: an option that keeps the load below 50% would be nice.",
        "Downloading the weights takes 10 minutes on the first run. Could you host them elsewhere?",
        "pip install takes 20 minutes the first time, later it's cached. Is there a wheel?",
        "First epoch takes 60 s, the second 55 s. What do you get?",
        "Accuracy differs between CPU and GPU\n\nOn the CPU I get 0.912, on the GPU 0.911. Why isn't it the same?",
        "Task manager shows 4% GPU\n\nBut GPU-Z says 96% load. Does it work?",
        "GPU usage is at 98% and the temperature is 70 C. All good?",
        "The first epoch takes 120 s as it fills the cache, the later ones 20 s. Fine.",
        "GPU hardly used by the task manager\n\nHWMonitor always has it at 90-99%.",
        "Task manager: my GPU isn't used?\n\nWhile it trains the card is at 80 degrees and its fan is loud.",
        "Is my GPU used? Task manager says 0%, while nvidia-smi dmon prints 95% sm.",
        "Training is fast, GPU utilization is 95%. What learning rate do you use with batch size 8?",
        "The first inference takes 2 seconds, the next ones 50 ms. Why is that?",
        "Is it normal that the first step takes a bit longer than the others?",
        "The first call of predict is slower (1.5 s) than the others (0.1 s)",
        "Will a RTX 3090 be faster than the 2080 Ti for this model?",
    ],
)
def test_nobody_complains(text: str) -> None:
    assert first(text + "\n") == ""


@pytest.mark.parametrize(
    "text",
    [
        "Task manager shows 6% GPU\n\nGPU-Z also shows 8%. UNet from jpegs is slow.",
        "GPU at 5% in task manager\n\nnvidia-smi shows 92% memory and 7% GPU util, training from jpegs is slow",
        "Task manager says the GPU isn't used\n\nThe CPU is at 100 %, nvidia-smi shows 0%.",
    ],
)
def test_another_tool_shows_it_idle_too(text: str) -> None:
    assert first(text + "\n") != ""


LOG = (
    "2021-06-01 12:00:00.123456: I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library libcudart.so.11.0\n"
    "2021-06-01 12:00:02.123456: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1418] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 9800 MB memory) -> physical GPU (device: 0, name: GeForce RTX 2080 Ti, pci bus id: 0000:01:00.0, compute capability: 7.5)\n"
)


@pytest.mark.parametrize(
    ("title", "cause"),
    [
        ("GPU util 20%, cpu 100% on all cores, training on ImageNet", INPUT),
        ("ssd mobilenet training: GPU-Util mostly 0%, sometimes 60%", INPUT),
        ("Embedding + LSTM classifier: gpu 20 s/epoch, cpu 14 s/epoch", LAUNCH),
        ("Horovod: 8 GPUs only 2x as fast as 1 GPU", "scaling-below-expected"),
        ("두 번째 GPU는 0%, 첫 번째 GPU만 사용됩니다, GPU 2개", "single-gpu-silently"),
    ],
)
def test_a_title_above_a_log_is_somebodys(title: str, cause: str) -> None:
    assert first(f"{title}\n\n{LOG}") == cause
    assert first(LOG) == ""


def test_all_cores_make_data_and_one_does_not() -> None:
    text = "DDPG on GTX 1080\n\nGPU at 8%, {cpu} at 100%.\n"
    assert first(text.format(cpu="one CPU core")) == LAUNCH
    assert first("GPU 8%\n\nall 16 CPU cores at 100% with my generator\n") == INPUT


def test_a_first_use_that_takes_minutes_decides_where_later_ones_are_quick() -> None:
    roots, _ = said(judged("TF 1.15 on the A100: the first session.run takes 25 minutes, then 20 ms\n"))
    assert roots == [COLD]
    roots, _ = said(judged("The first epoch takes 25 minutes on the GPU, then they take 3\n"))
    assert roots == []
