"""What texts tell of the driver: kernel log, DKMS and installers, services, device nodes, which libcuda."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

SMI = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is "
    "installed and running."
)
CUINIT = "2023-04-02 10:11:12.131415: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:266] failed call to cuInit: "
DIAGNOSTICS = "2023-04-02 10:11:12.141516: I tensorflow/compiler/xla/stream_executor/cuda/cuda_diagnostics.cc:"
UNKNOWN = CUINIT + "CUDA_ERROR_UNKNOWN: unknown error\n"
NO_DEVICE = CUINIT + "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
NO_LIBCUDA = CUINIT + "UNKNOWN ERROR (303)\n"
NO_MODULE = (
    DIAGNOSTICS
    + "156] kernel driver does not appear to be running on this host (box): /proc/driver/nvidia/version does not exist\n"
)
HEALTHY = (
    "I0000 00:00:1700000000.1 77 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22000 MB "
    "memory:  -> device: 0, name: NVIDIA L4, pci bus id: 0000:00:04.0, compute capability: 8.9\n"
)


def differ(kernel: str, library: str) -> str:
    return (
        f"{DIAGNOSTICS}312] kernel version {kernel} does not match DSO version {library} -- cannot find working devices in this "
        "configuration\n"
    )


STATED: dict[str, tuple[str, ...]] = {
    "driver-library-mismatch": (
        ("[ 912.114] NVRM: API mismatch: the client has the version 470.82.01, but\n"
        "NVRM: this kernel module has the version 470.74.  Please\n"),
        ("Jun  3 07:01:02 box kernel: [  55.1] NVRM: API mismatch: the client 'nvidia-smi' (pid 811)\n"
        "NVRM: has the version 550.90.07, but this kernel module has the version 550.54.15\n"),
        "Error: API mismatch: the NVIDIA kernel module has version 331.38, but this NVIDIA driver component has version 331.89.",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161",
        "It prints: Driver/Library version mismatch",
        "pynvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.",
        "NvmlException: NVML_ERROR_LIB_RM_VERSION_MISMATCH",
        NO_DEVICE + differ("384.130.0", "375.66.0"),
        CUINIT + "CUDA_ERROR_INVALID_VALUE\n" + differ("352.63.0", "361.93.2"),
        NO_DEVICE + DIAGNOSTICS + "199] libcuda reported version is: 384.111.0\n" + DIAGNOSTICS + "203] kernel reported version is: 384.90.0\n",
        CUINIT + "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW\n"
        "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n",
    ),
    "cuda-compat-unsupported": (
        ("Inside docker: RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on "
        "non supported HW"),
        ("docker run --gpus all img\n[hw @ 0x55] cu->cuInit(0) failed -> CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward "
        "compatibility was attempted on non supported HW"),
        "FROM nvidia/cuda:12.2.0-base-ubuntu22.04 is the container\n" + differ("525.85.12", "535.54.3"),
        "the container says: kernel version 470... does not match DSO version 515... -- cannot find working devices",
        CUINIT + "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\n"
        "LD_LIBRARY_PATH=/usr/local/cuda/compat:/usr/local/cuda/lib64\n",
        "export LD_LIBRARY_PATH=/usr/local/cuda-12.2/compat:$LD_LIBRARY_PATH\n" + differ("535.161.8", "535.54.3"),
    ),
    "libcuda-stub-loaded": (
        'RUN echo "/usr/local/cuda/lib64/stubs" > /etc/ld.so.conf.d/cuda-stubs.conf\n' + CUINIT + "CUresult(-1)\n",
        "LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/local/cuda/lib64/stubs\n" + CUINIT + "UNKNOWN ERROR (34)\n",
        ("You should always run with libnvidia-ml.so that is installed with your\nNVIDIA Display Driver.\n"
        "libnvidia-ml.so in GDK package is a stub library that is attached only for\n"),
        "cudaErrorStubLibrary: CUDA driver is a stub library",
        "[10:00:00] CUDA error: error code 34",
        "cuInit(0) returned 34",
        "cudaGetDeviceCount() failed: 34",
        CUINIT + "UNKNOWN ERROR (-1)\n" + DIAGNOSTICS + "203] kernel reported version is: 450.57.0\n",
    ),
    "cuinit-uvm-device-missing": (
        UNKNOWN + "ls: cannot access '/dev/nvidia-uvm': No such file or directory\n",
        'openat(AT_FDCWD, "/dev/nvidia-uvm", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
        "modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/5.10.0-9-amd64",
        "nvidia-docker | 2017/01/02 03:04:05 Error: Could not load UVM kernel module. Is nvidia-modprobe installed?",
        "crw-rw-rw- 1 root root 195,   0 Feb  2 10:00 /dev/nvidia0\n"
        "crw-rw-rw- 1 root root 195, 255 Feb  2 10:00 /dev/nvidiactl\n" + UNKNOWN,
        "/dev/nvidia0  /dev/nvidiactl  /dev/nvidia-modeset\n" + UNKNOWN,
        "docker run --device /dev/nvidia0:/dev/nvidia0 --device /dev/nvidiactl:/dev/nvidiactl tf\n" + UNKNOWN,
        UNKNOWN + "It works with sudo.",
        "After boot CUDA_ERROR_UNKNOWN comes, once any program was run as root it is found.",
        "CUDA unknown error, and `/dev/nvidia-uvm` was missing",
    ),
    "cuinit-unknown-after-suspend": (
        UNKNOWN + "This started after my laptop woke up: after resume from suspend",
        ("UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment\n"
        "[ 4711.1] PM: suspend exit\n"),
        "ggml_cuda_init: failed to initialize CUDA: unknown error, whenever the box wakes from sleep",
        "CUDA is gone after suspend. sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm brings it back",
    ),
    "uvm-node-stale-major": (
        "crw-rw-rw- 1 root root 510,   0 Feb  2 10:00 /dev/nvidia-uvm\n$ grep nvidia /proc/devices\n195 nvidia-frontend\n"
        "508 nvidia-uvm\n" + UNKNOWN,
    ),
    "device-node-permission": (
        "The GPU is not used unless superuser.\ncrw-rw---- 1 root video 195, 0 10-20 19:39 /dev/nvidia0\n",
        "NVIDIA: could not open the device file /dev/nvidiactl (Permission denied).",
        'open("/dev/nvidia0", O_RDWR) = -1 EACCES (Permission denied)',
        "cat: /dev/nvidiactl: Operation not permitted",
    ),
    "device-nodes-missing": (
        "nvidia              35319808  12 nvidia_modeset\nls: cannot access '/dev/nvidia0': No such file or directory\n" + NO_DEVICE,
    ),
    "lsm-denied": (
        "On Fedora SELinux is enforcing.\nFailed to initialize NVML: Insufficient Permissions",
        "Rootless podman under SELinux: without --security-opt label=disable the GPU's devices can't be opened",
        'type=AVC msg=audit(1.1:2): avc:  denied  { read write } for  pid=9 comm="python3" path="/dev/nvidiactl" dev="devtmpfs"',
        '[  9.1] audit: apparmor="DENIED" operation="open" profile="snap.x.y" name="/dev/nvidia0" pid=7',
    ),
    "driver-nouveau-conflict": (
        ("[  7.1] NVRM: The NVIDIA probe routine was not called for 1 device(s).\n[  7.2] NVRM: This can occur when a driver such as:\n"
        "NVRM: nouveau, rivafb, nvidiafb or rivatv\n"),
        "ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver",
        SMI + "\n01:00.0 VGA compatible controller: NVIDIA Corporation GP106 [GeForce GTX 1060 6GB] (rev a1)\n"
        "\tSubsystem: MSI\n\tKernel driver in use: nouveau\n\tKernel modules: nvidiafb, nouveau\n",
        SMI + "\n$ lsmod | grep nouveau\nnouveau              2306048  1\n",
        SMI + "\n[    3.3] nouveau 0000:01:00.0: NVIDIA TU116 (168000a1)\n",
    ),
    "gpu-bound-to-vfio": (
        "NVRM: GPU 0000:03:00.0 is already bound to vfio-pci.\nNVRM: The NVIDIA probe routine was not called for 1 device(s).\n",
        SMI + "\n03:00.0 3D controller [0302]: NVIDIA Corporation GA100 [10de:20b5] (rev a1)\n\tKernel driver in use: vfio-pci\n",
    ),
    "optimus-gpu-powered-off": (
        "modprobe: ERROR: could not insert 'off': Function not implemented\n" + SMI,
        "[ 99.1] [ERROR]Cannot access secondary GPU - error: Could not enable discrete graphics card",
        SMI + "\n[    2.2] bbswitch: disabling discrete graphics\n",
        UNKNOWN + NO_MODULE + "With optirun it runs.",
        SMI + "\n$ sudo prime-select nvidia\nInfo: the current GPU in use is: intel\n",
    ),
    "driver-secure-boot": (
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "modprobe: ERROR: could not insert 'nvidia_current': Required key not available",
        "insmod: ERROR: could not insert module nvidia.ko: Required key not available",
        SMI + "\n[   9.9] Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7\n",
        SMI + "\n[   9.9] Loading of unsigned module is rejected\n",
        "ERROR: The kernel module failed to load, because it was not signed by a key that is trusted by the kernel.",
        "The laptop has Secure Boot. ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when",
    ),
    "driver-kernel-incompatible": (
        ("Error! Bad return status for module build on kernel: 6.8.0-31-generic (x86_64)\n"
        "Consult /var/lib/dkms/nvidia/470.223.02/build/make.log for more information."),
        "dkms autoinstall on 6.5.0-14-generic/x86_64 failed for nvidia(10)\nnvidia/390.157: added",
        ('ERROR: An error occurred while performing the step: "Building kernel modules". See /var/log/nvidia-installer.log\n'
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  NVIDIA-Linux-x86_64-460.32.03"),
        "ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol 'rcu_read_unlock_strict'",
        "The kernel you are installing for is a PREEMPT_RT kernel!",
        "/build/nvidia/nv-pat.c:44:10: error: implicit declaration of function 'phys'",
        "make[4]: *** [scripts/Makefile.build:243: /var/tmp/nvidia-uvm/uvm_hmm.o] Error 1",
    ),
    "driver-module-not-loaded": (
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.4.0-99-generic",
        "modinfo: ERROR: Module nvidia-current not found.",
        "Error! Your kernel headers for kernel 5.15.0-88-generic cannot be found.\nnvidia/525.147.05: added",
        "ERROR: Unable to find the kernel source tree for the currently running kernel. NVIDIA-Linux-x86_64-550.54.run",
        "modprobe: ERROR: could not insert 'nvidia': Exec format error",
        "nvidia: version magic '5.4.0-42-generic SMP mod_unload ' should be '5.4.0-48-generic SMP mod_unload '",
        "libkmod: ERROR: Error running install command '/bin/false' for module nvidia: retcode 1",
        "ERROR: The compiler used to compile the kernel (gcc 11.2) does not exactly match the current one\nnvidia-dkms-535 is there",
        SMI + "\n$ dkms status\nnvidia/535.54.03, 6.2.0-26-generic, x86_64: installed\n$ uname -a\n"
        "Linux box 6.5.0-14-generic #14-Ubuntu SMP x86_64 GNU/Linux\n",
        SMI + "\nnvidia/470.57.02: added\n",
        SMI + "\nIt broke after Ubuntu upgraded the kernel.",
    ),
    "driver-rminit-failed": (
        "[   8.1] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26:0x56:1474)\n[   8.2] NVRM: rm_init_adapter failed for device",
        "NVRM: RmInitAdapter: Cannot initialize GSP firmware RM",
        "NVRM: kgspBootstrap_GA102: GSP reported an error while booting",
        "NVRM: GPU3 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP",
        "NVRM: kgspInitRm_IMPL: cannot bootstrap riscv/gsp: 0x40",
        "GSP-FMC reported an error at the driver's start",
        "on this board the GSP firmware fails to boot",
        "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\nNo devices were found",
        "NVRM: installed in this system is not supported by open\nNVRM: nvidia.ko because it does not include the required GPU",
        "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\nNVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)",
        "NVRM: supported through the NVIDIA 470.xx Legacy drivers. Please\nNVRM: information.  The 545.29 NVIDIA driver will ignore",
        "NVIDIA: could not open the device file /dev/nvidia0 (Input/output error).",
    ),
    "gpu-compute-capability-too-old": (
        "NVRM:  supported through the NVIDIA 390.xx Legacy drivers. Please",
        SMI + "\n02:00.0 VGA compatible controller: NVIDIA Corporation GF108 [GeForce GT 430] (rev a1)\n",
    ),
    "fabric-manager-not-running": (
        CUINIT + "CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n● nvidia-fabricmanager.service - NVIDIA fabric manager service\n"
        "   Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; disabled)\n   Active: inactive (dead)\n",
        "RuntimeError: cuda runtime error (802) : system not yet initialized\nUnit nvidia-fabricmanager.service could not be found.",
        "On this HGX machine: Failed to start nvidia-fabricmanager.service: timeout",
    ),
    "fabric-manager-version-mismatch": (
        ("nv-fabricmanager[99]: fabric manager NVIDIA GPU driver interface version 535.54.03 don't match with driver version "
        "535.129.03. Please update with matching NVIDIA driver package."),
        "Sep 1 box systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n"
        "fabric manager NVIDIA GPU driver interface version 550.1\n don't match with driver version 550.90.07\n"
        + CUINIT
        + "CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n",
    ),
    "mig-single-instance-limit": (
        "With MIG on an A100 torch.cuda.device_count() shows one gpu only",
        "6 MIG devices, and just one device is used",
        "export CUDA_VISIBLE_DEVICES=MIG-11111111-aaaa-5555-8888-123456789abc,MIG-22222222-aaaa-5555-8888-123456789abc\n" + HEALTHY,
    ),
    "wsl-driver-toolkit-mismatch": (
        "In a docker container on WSL2:\nFailed to initialize NVML: GPU access blocked by the operating system",
    ),
    "vgpu-unlicensed": (
        "        License Status                    : Unlicensed (Unrestricted)",
        "Oct  2 09:00:00 vm nvidia-gridd[811]: Failed to acquire license from 10.0.0.9",
        "The vGPU has no license, and everything is slow after minutes",
    ),
    "amd-gpu": (
        NO_LIBCUDA + "04:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 (rev c1)\n",
        NO_LIBCUDA + "- GPU model and memory: AMD Radeon RX 6800\n",
        UNKNOWN + NO_MODULE + "Graphics: AMD Radeon RX 570",
        "On Win 10 with an AMD Radeon R5\nNum GPUs Available: 0",
        "### GPU model and memory\n\nAMD Radeon RX 580, 8GB\n\nNum GPUs Available: 0\n",
    ),
    "no-nvidia-gpu": (NO_LIBCUDA + "- GPU model and memory: Intel HD Graphics 620\n",),
    "driver-missing": (
        "bash: nvidia-smi: command not found\n" + NO_LIBCUDA
        + "01:00.0 VGA compatible controller: NVIDIA Corporation GA104 [GeForce RTX 3070] (rev a1)\n",
    ),
    "driver-libcuda-not-on-path": (
        NO_LIBCUDA + DIAGNOSTICS + "203] kernel reported version is: 535.161.8\n\n-rw-r--r-- 1 root root 28000000 Mar  1 09:00 "
        "/opt/nvidia/lib64/libcuda.so.1\n",
    ),
    "wsl-libcuda-path": (
        "/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link\n" + NO_LIBCUDA,
        NO_DEVICE + "libcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1\n/usr/lib/wsl/lib/libcuda.so.1\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in STATED.items() for text in texts])
def test_a_line_decides(cause: str, text: str) -> None:
    assert said(judged(text)) == ([cause], [])


FIRST: dict[str, tuple[str, ...]] = {
    "cuda-visible-devices-wrong": ("RuntimeError: no CUDA-capable device is detected",),
    "device-node-permission": ("cuInit(0): OS call failed or operation not supported on this OS",),
    "driver-module-not-loaded": (
        "After the update nvidia-smi no longer works.",
        "[ERROR]Cannot access secondary GPU - error: Could not load GPU driver",
        "nvidia-persistenced: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist",
        "ERROR: Unable to find the development tool `cc` in your path",
        SMI, SMI.replace("'", "\N{LEFT SINGLE QUOTATION MARK}"), "NVMLError_DriverNotLoaded: Driver Not Loaded"),
    "driver-missing": (
        "zsh: command not found: nvidia-smi",
        "Command 'nvidia-smi' not found, but can be installed with:",
        "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.",
    ),
    "driver-nouveau-conflict": (
        "modprobe: ERROR: could not insert 'nvidia': No such device",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when",
        "NVRM: No NVIDIA graphics adapter found!",
    ),
    "driver-secure-boot": (SMI + "\nSecureBoot enabled\n", "modprobe: ERROR: could not insert 'nvidia': Operation not permitted"),
    "driver-too-old": ("NVRM: installed in this system is not supported by the\nNVRM: NVIDIA 470.103.01 driver release.",),
    "driver-rminit-failed": ("nvidia: probe of 0000:01:00.0 failed with error -1", "No devices were found"),
    "no-nvidia-gpu": ("WARNING: You do not appear to have an NVIDIA GPU supported by the 535.54.03 NVIDIA Linux graphics driver",),
    "driver-kernel-incompatible": (
        "nvidia: Unknown symbol drm_gem_object_put (err -2)",
        "Errors were encountered while processing:\n nvidia-dkms-450\n",
        "Error! Bad return status for module build on kernel: 6.1.0-10-amd64 (x86_64)\nConsult /var/lib/dkms/xyz/1/build/make.log",
    ),
    "fabric-manager-not-running": ("cudaErrorSystemNotReady: system not yet initialized",),
    "optimus-gpu-powered-off": ("01:00.0 3D controller: NVIDIA Corporation GM108M [GeForce 940MX] (rev ff)",
                                "nvidia 0000:01:00.0: Refused to change power state, currently in D3"),
    "driver-library-mismatch": (
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination",
        "libcuda reported version is: 450.142.0 kernel reported version is: 450.66.0",
        CUINIT + "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW\n"
        + differ("535.54.3", "535.161.8"),
    ),
    "cuda-compat-unsupported": (
        "Error 804: forward compatibility was attempted on non supported HW",
        CUINIT + "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver\n" + differ("535.161.8", "535.54.3"),
    ),
    "container-no-gpus-flag": (
        "root@0a1b2c3d4e5f:/# python t.py\n" + CUINIT + "CUresult(-1)\n",
        CUINIT + "UNKNOWN ERROR (34)\n" + NO_MODULE,
    ),
    "cuinit-uvm-device-missing": (UNKNOWN,),
    "driver-libcuda-not-on-path": (NO_LIBCUDA + DIAGNOSTICS + "203] kernel reported version is: 367.57.0\n",),
    "wsl-libcuda-path": (
        'Under WSL2 "libcuda.so.1" does not exist.',
        "On WSL2 only LD_LIBRARY_PATH=/usr/lib/wsl/lib lets my program find libcuda.so\n$ ldconfig -p | grep libcuda\n\tlibcuda.so.1 (libc6,x86-64) => /usr/lib/wsl/lib/libcuda.so.1\n",
    ),
    "wsl-driver-toolkit-mismatch": ("Failed to initialize NVML: GPU access blocked by the operating system",),
    "gpu-exclusive-busy": (CUINIT + "CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable\n",),
    "address-space-limit": (CUINIT + "CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",),
    "gpu-bound-to-vfio": (("modprobe: ERROR: could not insert 'nvidia': No such device\n"
                          "0a:00.0 VGA compatible controller: NVIDIA Corporation GP104 [GeForce GTX 1080]\n\tKernel driver in use: nvidia\n"
                          "0b:00.0 VGA compatible controller: NVIDIA Corporation GP104 [GeForce GTX 1080]\n\tKernel driver in use: vfio-pci\n"),),
}  # fmt: skip


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in FIRST.items() for text in texts])
def test_the_likely_cause_goes_first(cause: str, text: str) -> None:
    roots, candidates = said(judged(text))
    assert roots == []
    assert candidates[:1] == [cause]


FINE = (
    HEALTHY + "[  5.5] nvidia: loading out-of-tree module taints kernel.\n"
    "[  5.6] nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
    "[  5.7] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\n",
    HEALTHY + "01:00.0 VGA compatible controller: NVIDIA Corporation AD104GL [L4] (rev a1)\n\tKernel driver in use: nvidia\n"
    "\tKernel modules: nvidiafb, nouveau, nvidia_drm, nvidia\n",
    HEALTHY + "nv-fabricmanager[9]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing "
    "to do [NV_WARN_NOTHING_TO_DO]\nnvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n",
    HEALTHY + "● nvidia-fabricmanager.service - NVIDIA fabric manager service\n   Active: inactive (dead)\n",
    HEALTHY + "I suspend the laptop after work, in docker, and Secure Boot is enabled. The kernel was updated. SecureBoot enabled\n",
    HEALTHY + "$ dkms status\nnvidia/535.54.03, 6.5.0-14-generic, x86_64: installed\nLinux box 6.5.0-14-generic #14-Ubuntu SMP\n",
    HEALTHY + "crw-rw-rw- 1 root root 195,   0 Feb  2 10:00 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 Feb  2 10:00 /dev/nvidiactl\n"
    "crw-rw-rw- 1 root root 508,   0 Feb  2 10:00 /dev/nvidia-uvm\n508 nvidia-uvm\n",
    HEALTHY + "/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link\n5.15.90.1-microsoft-standard-WSL2\n",
    HEALTHY + "LD_LIBRARY_PATH=/usr/local/cuda/lib64:/usr/local/cuda/compat/lib:/usr/local/cuda/lib64/stubs\n",
    HEALTHY + "04:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Cezanne (rev c1)\n",
    HEALTHY + "export CUDA_VISIBLE_DEVICES=MIG-11111111-aaaa-5555-8888-123456789abc\n",
    ("nouveau              2306048  1\n01:00.0 VGA compatible controller: NVIDIA Corporation GP106 [GeForce GTX 1060]\n"
    "\tKernel driver in use: nouveau\n"),
    ("nvidia-fabricmanager failed: Job for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
    "|   0  NVIDIA GeForce ...  Off  | 00000000:05:00.0 Off |                  N/A |\n"),
)  # fmt: skip


@pytest.mark.parametrize("text", FINE)
def test_nothing_is_wrong(text: str) -> None:
    assert said(judged(text)) == ([], [])


@pytest.mark.parametrize(
    ("text", "not_said"),
    [
        (SMI + "\nSecureBoot disabled\n", "driver-secure-boot"),
        ("nvidia-smi: command not found\nroot@0a1b2c3d4e5f:/# x\n" + NO_LIBCUDA
         + "01:00.0 VGA compatible controller: NVIDIA Corporation GA104 [GeForce RTX 3070]\n", "driver-missing"),
        (UNKNOWN + "ls: cannot access '/dev/nvidia-uvm': No such file or directory\nafter suspend", "cuinit-unknown-after-suspend"),
        ("NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\nNVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x24:0xf:1)",
         "driver-rminit-failed"),
        (("Error! Bad return status for module build on kernel: 6.8.0 (x86_64)\n/var/lib/dkms/nvidia/535/build/make.log\n"
         "Error! Your kernel headers for kernel 6.8.0 cannot be found."), "driver-kernel-incompatible"),
        (NO_LIBCUDA + "GPU: Radeon RX 570, and a GeForce GTX 1060 in the other slot", "amd-gpu"),
        (differ("535.161.8", "550.54.15") + "root@0a1b2c3d4e5f:/#\nFailed to initialize NVML: Driver/library version mismatch\n",
         "cuda-compat-unsupported"),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1\nbash: nvidia-smi: command not found",
         "driver-module-not-loaded"),
    ],
)  # fmt: skip
def test_it_is_not_said(text: str, not_said: str) -> None:
    roots, _ = said(judged(text))
    assert not_said not in roots


def test_a_variable_that_hides_what_a_driver_that_works_has() -> None:
    same = "".join(f"{DIAGNOSTICS}194] {one} reported version is: 570.86.15\n" for one in ("libcuda", "kernel"))
    seven = f'{NO_DEVICE}{DIAGNOSTICS}160] env: CUDA_VISIBLE_DEVICES="%s"\n{same}'
    assert said(judged(seven % "7")) == (["cuda-visible-devices-wrong"], [])
    roots, candidates = said(judged(seven % "0"))
    assert "cuda-visible-devices-wrong" not in roots
    assert candidates


def test_what_the_container_tool_says_is_no_nvml_error() -> None:
    report = judged("nvidia-container-cli: initialization error: nvml error: driver/library version mismatch")
    assert said(report) == (["driver-library-mismatch"], [])  # it is the host's


def test_harmless_lines_are_named() -> None:
    report = judged(
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
        "nvidia: loading out-of-tree module taints kernel.\n"
        "/sbin/ldconfig: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link\n[NV_WARN_NOTHING_TO_DO]\n"
    )
    events = report.facts.text.events
    assert isinstance(events, tuple)
    assert [e.kind for e in events if e.kind.startswith("benign")] == [
        "benign-module-signature",
        "benign-module-taints",
        "benign-wsl-link",
        "benign-no-nvswitch",
    ]


def test_circumstances_are_kept_once() -> None:
    events = judged("docker one\ndocker two\nafter suspend in a container\n").facts.text.events
    assert isinstance(events, tuple)
    assert [e.kind for e in events if e.kind in ("container-named", "suspended")] == ["container-named", "suspended"]


def test_versions_that_differ_say_why_cuinit_fails() -> None:
    """Beside cuInit's answer they are no symptom of their own."""
    differ = "kernel version 535.161.8 does not match DSO version 550.54.15 -- cannot find working devices in this configuration\n"
    failed = "failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\n"
    assert list(judged(failed + differ).diagnosis.candidates) == ["cuinit-fails"]
    assert "cuinit-fails" not in judged(differ).diagnosis.candidates


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ("Why can't I train on my AMD Radeon RX 6700 XT?", ["amd-gpu"]),
        (
            "GPU AMD Radeon RX 6700 XT\nkernel: pci 0000:0c:00.0: 126.016 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x16 link",
            [],
        ),
    ],
)
def test_whose_gpu_of_amd_is_at_work_does_not_ask_for_another(told: str, right: list[str]) -> None:
    assert said(judged(told))[0] == right
