"""What is said of operations that fail -> the cause, or what is left."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown

STAMP = "2021-03-04 05:06:07.000123: "
DNN = "E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] "
BLAS = "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] "
GPU = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1402] "
HANDLE = f"{STAMP}{DNN}Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
CUBLAS = f"{STAMP}{BLAS}failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
EXECUTION = f"{STAMP}{BLAS}failed to run cuBLAS routine: CUBLAS_STATUS_EXECUTION_FAILED\n"
OOM = (
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,512,56,56] and "
    "type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]\n"
)
CUDA_10 = (
    f"{STAMP}I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library "
    "libcudart.so.10.1\n"
)
CUDA_11 = CUDA_10.replace("10.1", "11.0")


def found(name: str, capability: str, size: str = "7.79GiB") -> str:
    return (
        f"{STAMP}{GPU}Found device 0 with properties: \npciBusID: 0000:0b:00.0 name: {name} computeCapability: {capability}\n"
        f"coreClock: 1.7GHz coreCount: 40 deviceMemorySize: {size} deviceMemoryBandwidth: 400GiB/s\n"
    )


def created(memory: int, name: str = "GeForce RTX 2070", capability: str = "7.5") -> str:
    return (
        f"{STAMP}{GPU}Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with {memory} MB memory) -> "
        f"physical GPU (device: 0, name: {name}, pci bus id: 0000:0b:00.0, compute capability: {capability})\n"
    )


def codeless(capability: str) -> str:
    return (
        "W0000 00:00:1750000000.000001    7 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible "
        f"with compute capability {capability}. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.\n"
    )


INVALID_PTX = "'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'\n"
INVALID_HANDLE = "InternalError: 'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE'\n"
ANY_CARD = "gpu-too-new-for-build"
TOO_OLD = "gpu-compute-capability-too-old"
HELD = "gpu-memory-held-by-other-process"
NO_ROOM = "gpu-memory-handle-alloc"
TOO_LARGE = "gpu-oom-model-or-data"
NO_IMAGE = "Internal: no kernel image is available for execution on the device\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the GPU is newer than the build
        (found("GeForce RTX 3080", "8.6") + CUDA_10 + CUBLAS, ANY_CARD),
        (found("GeForce RTX 3080", "8.6") + CUDA_10 + HANDLE, ANY_CARD),
        (created(8000, "GeForce RTX 3070", "8.6") + "TensorFlow 1.15.3\n" + EXECUTION, ANY_CARD),
        ("RTX 3060, tensorflow-gpu==1.14.0\n" + "Blas GEMM launch failed : a.shape=(4, 8), b.shape=(8, 2), m=4", ANY_CARD),
        ("my new 3080 stops\n" + EXECUTION, ANY_CARD),
        ("RTX 4080, TF 2.2\n" + NO_IMAGE, ANY_CARD),
        ("- TensorFlow version: 2.2rc2\nGPU: RTX 3090\n" + NO_IMAGE, ANY_CARD),
        (codeless("12.0") + INVALID_PTX, ANY_CARD),
        (codeless("12.0"), ANY_CARD),
        (codeless("8.9") + INVALID_PTX, ANY_CARD),
        ("RTX 5080\n" + INVALID_HANDLE, ANY_CARD),
        ("NVIDIA GeForce RTX 5060 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n", ANY_CARD),
        # older
        ("Found GPU0 Tesla K20m which is of cuda capability 3.5.\nPyTorch no longer supports this GPU because it is too old.\n", TOO_OLD),
        ("No CUDA device found with minimum required compute capability 3.5\n", TOO_OLD),
        ("GTX 850M, TF 2.3.0\n" + NO_IMAGE, TOO_OLD),
        ("Tesla K40 with CUDA capability sm_35 is not compatible with the current PyTorch installation.\n", TOO_OLD),
        ("with Cuda compute capability 3.0. The minimum required Cuda capability is 3.5.\n", TOO_OLD),
        # the driver
        ("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.\n", "driver-too-old-for-ptx"),
        ("'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_UNSUPPORTED_PTX_VERSION'\n" + INVALID_HANDLE, "driver-too-old-for-ptx"),
        ("E external/xla/gpu/asm_compiler.cc:57] cuLinkAddData fails. This is usually caused by stale driver version.\n", "driver-too-old-for-ptx"),
        ("E external/xla/gpu/gpu_compiler.cc:99] The CUDA linking API did not work. Please use XLA_FLAGS=…\n", "driver-too-old-for-ptx"),
        ("ptxas application ptx input, line 7; fatal   : Unsupported .version 8.1; current version is '7.8'\n", "driver-too-old-for-ptx"),
        ("CUDA error 222\n", "driver-too-old-for-ptx"),
        ("cudaRuntimeGetVersion() failed with error #35\n", "driver-too-old"),
        ("X 10:00:00 main CUDA error: Insufficient CUDA driver: 9000\n", "driver-too-old"),
        ("cuda driver version is insufficient for CUDA runtime version\n", "driver-too-old"),
        (
            ("tensorflow-gpu 1.14.0\n"
             f"{STAMP}{DNN}Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"
             f"{STAMP}{DNN}Possibly insufficient driver version: 390.87.0\n"),
            "driver-too-old",
        ),
        # memory
        (created(7000) + HANDLE, NO_ROOM),
        (found("GeForce RTX 3080", "8.6") + CUDA_11 + HANDLE, NO_ROOM),
        (f"{STAMP}{DNN}could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED\n", NO_ROOM),
        (HANDLE + f"{STAMP}{DNN}Memory usage: 3145728 bytes free, 8369078272 bytes total.\n", NO_ROOM),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)\n", NO_ROOM),
        (OOM, TOO_LARGE),
        (found("GeForce RTX 2070", "7.5") + created(7000) + OOM, TOO_LARGE),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes.\n", TOO_LARGE),
        (found("GeForce RTX 2070", "7.5") + created(301) + OOM, HELD),
        (
            f"{STAMP}{GPU}Found device 0 with properties: \nname: Tesla K40c major: 3 minor: 5 memoryClockRate(GHz): 0.745\n"
            f"pciBusID: 0000:02:00.0\ntotalMemory: 11.17GiB freeMemory: 120.38MiB\n" + HANDLE,
            HELD,
        ),
        (
            ("name: TITAN X (Pascal)\nTotal memory: 11.90GiB\nFree memory: 402.00MiB\n"
            "E tensorflow/stream_executor/cuda/cuda_driver.cc:1002] failed to allocate 402.00M (421527552 bytes) from device: "
            "CUDA_ERROR_OUT_OF_MEMORY\n"),
            HELD,
        ),
        (
            "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: out of memory\n",
            HELD,
        ),
        (
            ("unable to create StreamExecutor for CUDA:0: failed initializing StreamExecutor for CUDA device ordinal 0: Internal: "
            "failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 12800000000\n"),
            HELD,
        ),
        (
            ("RuntimeError: CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 15.78 GiB total capacity; 2.00 GiB already "
            "allocated; 40.50 MiB free; 2.10 GiB reserved in total by PyTorch)\n"),
            HELD,
        ),
        ("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 100.00 MiB free. Process 4711 has 70.10 GiB memory in use.\n", HELD),
        ("The killed training still holds 11 GB of GPU memory.\n", HELD),
        ("TensorFlow allocates nearly all of the GPU memory at once, so the second script has none.\n", "tf-preallocates-all-memory"),
        ("0.11, using all gpu's memory while one would do\n", "tf-preallocates-all-memory"),
        # libraries
        (f"{STAMP}{DNN}Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.\n" + HANDLE, "cudnn-version-too-old"),
        ("Loaded runtime CuDNN library: 7103 (compatibility version 7100) but source was compiled with 7005\n", "cudnn-version-mismatch"),
        ("Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 8.9.4.\n", "cudnn-version-mismatch"),
        ("Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file\n", "cudnn-incomplete-install"),
        ("ImportError: libcublas.so.11: symbol cublasLtGetStatusString, version libcublasLt.so.11 not defined in file\n", "cublas-version-mismatch"),
        ("OSError: /opt/env/lib/python3.7/lib-dynload/../../libcublas.so.11: symbol free_gemm_select version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference\n", "cuda-lib-from-other-toolkit"),
        ("python: relocation error: /usr/local/cuda-11.1/lib64/libcublas.so: symbol runGemmShortApi, version libcublasLt.so.11 not defined in file libcublasLt.so.11 with link time reference\n", "cuda-lib-from-other-toolkit"),
        ("TF 2.8.0, CUDA 11.2\nBlas xGEMV launch failed : a.shape=[1,3000000,3], b.shape=[1,3,1], m=3000000, n=1, k=3\n", "cublas-bug-cuda-11-2"),
        ("W0000 nvptx_compiler.cc:1] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in\n", "libdevice-missing"),
        ("InternalError: libdevice not found at ./libdevice.10.bc [Op:__inference_one_step_on_data_994]\n", "libdevice-missing"),
        ("Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice\nUNKNOWN: JIT compilation failed.\n", "libdevice-missing"),
        (
            ("F tensorflow/compiler/xla/service/gpu/nvptx_compiler.cc:435] ptxas returned an error during compilation of ptx to sass: "
            "'INTERNAL: Failed to launch ptxas'  If the error message indicates that a file could not be written\n"),
            "ptxas-missing",
        ),
        ("OP_REQUIRES failed at xla_ops.cc:400 : Not found: ./bin/ptxas not found\n", "ptxas-missing"),
        ("ptxas fatal   : Value 'sm_89' is not defined for option 'gpu-name'\n", "ptxas-too-old"),
        # instances
        ("export CUDA_VISIBLE_DEVICES=MIG-11aa,MIG-22bb\nNum GPUs Available:  1\n", "mig-single-instance-limit"),
        ("With 4 MIG instances only the first one is used.\n", "mig-single-instance-limit"),
    ],
)  # fmt: skip
def test_what_is_certain(text: str, cause: str) -> None:
    assert said(judged(text)) == ([cause], [])


@pytest.mark.parametrize(
    "text",
    [
        "For RTX 3000 owners: TensorFlow 1.15 hangs at the start\n",
        "A 3090 with TensorFlow 1.15 gives NaN after some steps\n",
        "RTX 5070 with TensorFlow 2.19 does not train\n",
    ],
)
def test_a_newer_card_that_is_named_is_likely_and_no_proof(text: str) -> None:
    assert said(judged(text)) == ([], [ANY_CARD, "cuda-version-mismatch"])


def test_a_newer_card_that_no_gpu_is_listed_for() -> None:
    roots, candidates = said(judged("TensorFlow 1.15.2 doesn't detect my GPU\n\nRTX 3090, Ubuntu\n"))
    assert (roots, candidates[0]) == ([], ANY_CARD)


PLACEMENT = (
    "InvalidArgumentError: Cannot assign a device for operation net/conv: node net/conv was explicitly assigned to "
    "/device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0{more} ]. Make sure the device "
    "specification refers to a valid device.\n"
)


@pytest.mark.parametrize(
    "text",
    [
        PLACEMENT.format(more=""),
        PLACEMENT.format(more=", /job:localhost/replica:0/task:0/device:XLA_CPU:0, /job:localhost/replica:0/task:0/device:XLA_GPU:0"),
        "No OpKernel was registered to support Op 'NcclAllReduce' used by node. Registered devices: [CPU, XLA_CPU]\n",
    ],
)  # fmt: skip
def test_no_gpu_for_an_operation(text: str) -> None:
    roots, left = said(judged(text))
    assert roots == []
    assert left[:2] == ["tf-no-gpu-registered", "tf-cpu-only-package"]
    assert said(judged(text + "tf.test.is_built_with_cuda()\nTrue\n"))[0] == ["tf-no-gpu-registered"]


def test_where_the_text_tells_why_there_is_no_gpu() -> None:
    why = "E tensorflow/stream_executor/cuda/cuda_driver.cc:328] failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
    assert "tf-no-gpu-registered" not in said(judged(why + PLACEMENT.format(more="")))[0]
    other = PLACEMENT.format(more=", /job:localhost/replica:0/task:0/device:GPU:0").replace("GPU:0 but", "GPU:1 but")
    roots, left = shown(judged(other))  # a GPU is there, and another one is asked for
    assert (roots, left[:1]) == ([], ["cuda-visible-devices-wrong"])
    not_enabled = (
        PLACEMENT.format(more="").rstrip("\n") + " The requested device appears to be a GPU, but CUDA is not enabled.\n"
    )
    roots, left = said(judged(not_enabled))
    assert "tf-no-gpu-registered" not in roots
    assert "tf-cpu-only-package" in (*roots, *left)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize\n", NO_ROOM),
        ("InternalError: Blas GEMM launch failed : a.shape=(32, 784), b.shape=(784, 10), m=32, n=10, k=784\n", NO_ROOM),
        (EXECUTION, ANY_CARD),
        ("InternalError: Blas xGEMV launch failed : a.shape=[1,12,3], b.shape=[1,3,1], m=12, n=1, k=3\n", "cublas-bug-cuda-11-2"),
        (INVALID_PTX, ANY_CARD),
        (NO_IMAGE, ANY_CARD),
        ("failed to allocate 3.66G (3928686592 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n", HELD),
        ("InternalError: Dst tensor is not initialized.\n", HELD),
        (HANDLE + f"{STAMP}{DNN}Memory usage: 6442450944 bytes free, 8369078272 bytes total.\n", NO_ROOM),
        ("UNIMPLEMENTED: DNN library is not found.\n", "cudnn-version-too-old"),
        ("Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object\n", "cudnn-incomplete-install"),
        ("Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file\n", "wsl-libcuda-path"),
        ("Could not load library libcudnn_cnn_infer.so.8. Error: libcublas.so.11: cannot open shared object file\n", "ld-library-path-not-set"),
        ("Could not load library cudnn_cnn_infer64_8.dll. Error code 126\n", "cudnn-incomplete-install"),
        ("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH in cudnnCreate\n", "cudnn-version-mismatch"),
        ("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n", "gpu-exclusive-busy"),
        ("UNKNOWN: JIT compilation failed.\n", "libdevice-missing"),
        ("Process finished with exit code 137 (interrupted by signal 9: SIGKILL)\n", "cgroup-memory-limit"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "gpu-oom-model-or-data"),
    ],
)  # fmt: skip
def test_what_is_left(text: str, first: str) -> None:
    roots, left = said(judged(text))
    assert roots == []
    assert left[:1] == [first]


def test_of_several_lines_what_fits_all_is_left() -> None:
    text = "Blas GEMM launch failed : a.shape=(1, 2), b.shape=(2, 3), m=1, n=3, k=2\n" + EXECUTION
    assert said(judged(text))[1][:2] == [ANY_CARD, NO_ROOM]


@pytest.mark.parametrize(
    "text",
    [
        created(7000) + "Epoch 1/3\n 1/10 [==>...] - ETA: 9s\n10/10 [==============================] - 4s 31ms/step - loss: 0.4\n",
        (
            "W tensorflow/core/common_runtime/bfc_allocator.cc:245] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.13GiB "
            "with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there could be performance "
            "gains if more memory were available.\n"
        ),
        "W tensorflow/core/framework/allocator.cc:101] Allocation of 411041792 exceeds 10% of free system memory.\n",
        (
            "W tensorflow/stream_executor/gpu/redzone_allocator.cc:312] Internal: Invoking ptxas not supported on Windows\n"
            "Relying on driver to perform ptx compilation. This message will be only logged once.\n"
        ),
        "E tensorflow/core/grappler/optimizers/meta_optimizer.cc:828] layout failed: INVALID_ARGUMENT: Size of values 0 does not match\n",
        "WARNING:tensorflow:5 out of the last 5 calls to <function> triggered tf.function retracing.\n",
        "W external/local_xla/xla/stream_executor/gpu/gpu_timer.cc:114] Delay kernel timed out: measured time has sub-optimal accuracy\n",
        "W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence\n",
        "I tensorflow/compiler/xla/service/service.cc:173] XLA service 0x55 initialized for platform CUDA (this does not guarantee that XLA will be used). Devices:\n",
        found("GeForce RTX 3080", "8.6") + CUDA_10,  # it is said that a card is there, not that it fails
        found("NVIDIA Tegra X1", "5.3") + "totalMemory: 3.89GiB freeMemory: 300.00MiB\n",
        found("GeForce GTX 1080", "6.1") + "totalMemory: 7.92GiB freeMemory: 300.00MiB\n",
        codeless("12.0") + "10/10 [==============================] - 4s 31ms/step - loss: 0.4\n",
        codeless("9.0"),
        "Tensorflow is not using full gpu memory\n",
        "A 3090 with TensorFlow 2.10 is fine\n",
        "I have an RTX 3090. Which CUDA is right?\n",
        "The TF guide on memory: allocate only as much GPU memory as needed\n",
        "Could not load library libfoo.so.1. Error: libbar.so: cannot open\n",
    ],
)  # fmt: skip
def test_nothing_is_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])


def test_turing_on_cuda_10_is_memory() -> None:
    assert said(judged(found("GeForce RTX 2060", "7.5") + CUDA_10 + HANDLE)) == ([NO_ROOM], [])
    assert said(judged("RTX 2080 Ti, tensorflow-gpu 1.13.1\n" + CUBLAS)) == ([NO_ROOM], [])


def test_another_cause_of_the_same_goes_first() -> None:
    mismatch = f"{STAMP}{DNN}Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.4.2.\n"
    assert said(judged("RTX 3090, tf 1.15\n" + mismatch + HANDLE))[0] == ["cudnn-version-too-old"]
    assert said(judged(codeless("12.0") + "tf 2.21.0\n"))[0] == []


def test_what_the_driver_can_not_compile_does_not_just_start_slowly() -> None:
    def info(text: str) -> list[str]:
        return [f.cause for f in judged(text).findings if f.level == "info"]

    assert info(codeless("9.0")) == ["jit-cold-start"]
    assert info(codeless("9.0") + "CUDA_ERROR_UNSUPPORTED_PTX_VERSION\n") == []


def test_ptxas_beside_what_fails() -> None:
    old = "W asm_compiler.cc:231] Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 8.9\n"
    assert said(judged(old))[0] == ["ptxas-too-old"]
    assert said(judged(old + OOM))[0] == [TOO_LARGE]


def test_libdevice_is_looked_for_and_work_goes_on() -> None:
    seen = "W nvptx_helper.cc:56] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in\n"
    assert said(judged(seen + "10/10 [==============================] - 4s 31ms/step - loss: 0.4\n")) == ([], [])
    assert said(judged(seen + OOM))[0] == [TOO_LARGE]
