"""Why `import tensorflow` fails, in the words of the loaders, of Python and of TensorFlow's own checks."""

from __future__ import annotations

from . import tensorflow_facts
from .language import Kind, Language, Values
from .notebook import Notebook

_NO_GPU = "tf-lists-no-gpu"
_FAILED, _WEAK = 2, -2
_NOT_FOUND = (
    r"The specified module could not be found|找不到指定的模[块組组]|指定されたモジュールが見つかりません|지정된 모듈을 찾을 수 없습니다"
    r"|\u041d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d \u0443\u043a\u0430\u0437\u0430\u043d\u043d\u044b\u0439 \u043c\u043e\u0434\u0443\u043b\u044c|Das angegebene Modul wurde nicht gefunden|Le module sp.cifi. est introuvable"
    r"|[Nn]o se (?:puede encontrar|encuentra|ha encontrado|encontr.) el m.dulo especificado"
    r"|N.o foi poss.vel encontrar o m.dulo especificado"
    r"|Impossibile trovare il modulo specificato|Nie mo.na odnale.. okre.lonego modu.u|Belirtilen mod.l bulunamad."
)
_ROUTINE = (
    r"initialization routine failed|初始化例程失败|初期化ルーチンの実行に失敗|초기화 루틴을 실행할 수 없|DLL-Initialisierungsroutine"
    r"|routine d.initialisation d.une biblioth.que|error en una rutina de inicializaci.n"
    r"|Falha em uma rotina de inicializa"
    r"|\u041f\u0440\u043e\u0438\u0437\u043e\u0448\u0435\u043b \u0441\u0431\u043e\u0439 \u0432 \u043f\u0440\u043e\u0433\u0440\u0430\u043c\u043c\u0435 \u0438\u043d\u0438\u0446\u0438\u0430\u043b\u0438\u0437\u0430\u0446\u0438\u0438|routine di inizializzazione"
)

_ILLEGAL = (
    r"[Ii]llegal (?:hardware )?[Ii]nstruction(?! set| was encountered)|ILLEGAL_INSTRUCTION|SIGILL|EXC_BAD_INSTRUCTION|EXC_I386_INVOP|0x[Cc]000001[Dd]|-1073741795|3221225501"
    r"|(?i:ungültiger maschinenbefehl|instruction (?:non permise|illégale)|instrucción ilegal|instrução ilegal|istruzione (?:non consentita|illegale)|недопустимая инструкция|非法指令|不正な命令|명령어가 잘못됨|잘못된 명령어)"
    r"|(?:terminated by|interrupted by|exited on|killed by|died with) signal:? 4\b|(?i:\bexit(?:s|ed|ing)?(?: with)?(?: exit)?(?: status| code)?(?: is| was| being| of)?\W{1,3}132(?![\d,]|\.\d)|\breturn(?:ed)? ?(?:status|code)\W{1,3}132(?![\d,]|\.\d))"
)
"""How shells, debuggers and Windows call it that a processor does not know an instruction, in their languages."""
_OF_THEM = (
    "llegal instruction", "llegal Instruction", "llegal hardware", "ILLEGAL_INSTRUCTION", "SIGILL", "EXC_BAD_INSTR", "EXC_I386", "000001D", "000001d", "1073741795", "3221225501",
    "aschinenbefehl", "nstruction non permise", "nstruction illégale", "nstrucción ilegal", "nstrução ilegal", "struzione non consentita", "struzione illegale", "инструкция", "非法指令",
    "不正な命令", "명령어", "signal 4", "signal: 4", "132", "invalid opcode",
)  # fmt: skip


def _broken(values: Values, line: int, notes: Notebook) -> None:
    """The import of TensorFlow ends here; where a traceback tells it, its own line is kept."""
    if not isinstance(notes.told("tensorflow.import_error"), str):
        notes.tell("tensorflow.import_error", values.get("text", "") or "the import fails", line, _FAILED)


def _perhaps(values: Values, line: int, notes: Notebook) -> None:
    """The same, where the line itself names TensorFlow's library; one that names none is weak."""
    text = values.get("text", "")
    if "_pywrap_tensorflow" in text:
        _broken(values, line, notes)
    elif "importing" not in text and "loading" not in text:
        notes.tell("tensorflow.import_error", text, line, _WEAK)


def _dll(values: Values, line: int, notes: Notebook) -> None:
    """TensorFlow 1.x looks for CUDA's libraries before it loads its own."""
    name = values["library"]
    if name.startswith("nvcuda"):
        notes.tell("driver.libcuda.path", None, line, _FAILED)
        notes.tell("driver.libcuda.load_error", values["text"], line, _FAILED)
    else:
        tensorflow_facts.not_opened(name, line, notes)
        notes.tell("tensorflow.loader_ok", False, line, _FAILED)
    notes.tell("system.system", "Windows", line)
    _broken(values, line, notes)


def _32_bits(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("python.bits", 32, line, _FAILED)
    _broken(values, line, notes)


OF_TF1 = (
    r"(?:placeholder|Session|InteractiveSession|ConfigProto|GPUOptions|get_default_graph|reset_default_graph|get_variable|variable_scope"
    r"|global_variables(?:_initializer)?|initialize_all_variables|trainable_variables|set_random_seed|app|flags|contrib|logging|gfile|layers|log"
    r"|to_float|to_int32|truncated_normal|random_normal|random_uniform|mul|sub|pack|Summary|get_collection|GraphKeys|parse_single_example)\b"
)
"""What TensorFlow 1 had under `tf` and TensorFlow 2 has not, or 1.0 took away."""

LANGUAGE = Language(
    name="imports",
    words=(
        "low backend",
        "utureWarning",
        "eprecationWarning",
        "WARNING:tensorflow:From ",
        *_OF_THEM,
        "compiled to use",
        "calcsize",
        "orovod",
        "DLL",
        "dll",
        "GLIBC",
        "glibc",
        "_descriptor.",
        "MessageFactory",
        "serialized_",
        "create_key",
        "CXXABI",
        "ELFCLASS",
        "ELF class",
        "is not a package",
        "async)",
        "source directory",
        "circular import",
        "undefined symbol",
        "incompatible architecture",
        "Redistributable",
        "numpy",
        "NumPy",
        "signature was",
        "Using ",
        "tensorflow.py",
        "keras.py",
        "tensorflow/__init__",
        "tensorflow/python/",
        "tensorflow\\__init__",
        "tensorflow\\python\\",
        "named ",
        "called ",
        "renam",
        "name is ",
        "name was ",
        "touch ",
        "has no attribute",
        "Registered devices",
        "escriptor can",
        ".py)",
        "standard library module",
        "Descriptors",
        "Protocol Buffer",
        "protobuf",
        "PROTOCOL_BUFFERS",
        "_upb",
        "no attribute '__version__'",
        "GPU",
        "_CheckCalledFrom",
        "native TensorFlow",
        "conflicting TensorFlow",
        "64-bit Python",
        "vcruntime",
        "VCRUNTIME",
        "msvcp",
        "tfjs_binding",
    ),
    kinds=(
        Kind(
            "benign-deprecation",
            r"\b(?:Future|(?:Pending)?Deprecation)Warning: |^WARNING:tensorflow:From [^\n]{0,300}\bis deprecated and will be removed\b",
        ),
        Kind(
            "msvc-runtime",
            r"(?P<text>Could not find (?:the DLL\(s\) )?['\"]?(?P<library>(?:msvcp|vcruntime|concrt)\d+"
            r"(?:_\d)?\.dll)[^.]{0,80})",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "msvc-runtime",
            r"(?P<text>(?:install|download|requires?|missing)[^.]{0,40}Visual C\+\+[^.]{0,40}Redistributable|Visual C\+\+ Redistributable is not installed|"
            r"(?:MSVCP140|VCRUNTIME140)(?:_1)?\.(?:dll|DLL) (?:was not found|is missing)|ctypes\.WinDLL\(build_info\.msvcp_dll_name\)|% build_info\.msvcp_dll_n)",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "zlibwapi",
            r"(?i:(?:could not|can ?not|can't|couldn't|unable to|failed to) (?:locate|find|load)(?: (?:the|library)){0,2} ['\"`]?(?P<library>zlibwapi\.dll)"
            r"|(?P<library2>zlibwapi\.dll)[^.\n]{0,20} (?:was |is )?(?:not found|missing|(?:can ?not|can't|could not|couldn't) be (?:found|located|loaded))"
            r"|(?:找不到|缺少|缺失)[^.\n]{0,8}(?P<library3>zlibwapi\.dll)|(?P<library4>zlibwapi\.dll)[^.\n]{0,8}(?:找不到|缺失|丢失|不存在|没有找到))",
            "op-fails",
        ),
        Kind(
            "windows-library",
            r"(?P<text>Could not find ['\"]?(?P<library>(?:cudart64|cudnn64|cublas64|cufft64|nvcuda)[\w]*\.dll)['\"]?)",
            _NO_GPU,
            _dll,
        ),
        Kind(
            "illegal-instruction",
            r"^(?![^\n]{0,400}(?:\b[Xx][Ii][Dd]\b|[Ll]aunch failure|CUDA_ERROR|\b[Cc][Uu][Dd][Aa]: |\b[Ww]arp|\bSMs?\b|[Mm]isaligned address))[^\n]{0,2000}?"
            rf"(?P<text>{_ILLEGAL}|trap invalid opcode [^\n]{{0,100}}\bin \S{{0,60}}(?:tensorflow|pywrap))",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "not-win32",
            r"(?P<text>(?:DLL load failed[^:]{0,60}: )?%1 (?:is not a valid Win32 application|不是有效的 ?Win32))",
            _NO_GPU,
            _broken,
        ),
        Kind("dll-routine", rf"(?P<text>DLL load failed[^:]{{0,60}}: [^|]{{0,80}}(?:{_ROUTINE}))", _NO_GPU, _broken),
        Kind(
            "dll-procedure",
            r"(?P<text>DLL load failed[^:]{0,60}: (?:The specified procedure could not be found|找不到指定的程序)[^"
            r"|]{0,20})",
            _NO_GPU,
            _broken,
        ),
        Kind("keras-on-tensorflow", r"^Using Tensor[Ff]low backend\b"),
        Kind("dll-absent", rf"(?P<text>DLL load failed[^:]{{0,60}}: (?:{_NOT_FOUND}))", _NO_GPU, _perhaps),
        Kind("dll-load-failed", r"(?P<text>DLL load failed(?: (?:while|with)[^:]{0,60})?(?::|$))", None, _perhaps),
        Kind("node-binding", r"^\\\\\?\\[^\n]{3,200}[\\/]tfjs-node-gpu\\[^\n]{0,60}tfjs_binding\.node$", "op-fails"),
        Kind("paging-file", r"(?P<text>The paging file is too small for this operation to complete)", "op-fails"),
        Kind(
            "glibc",
            r"(?P<text>(?:version )?[`'\u2018\"\\]{0,3}(?P<symbol>(?:GLIBC|glibc)[_ ] ?(?P<version>2\.\d+))[`'\u2019\"\\]{0,3} (?:is |was )?not (?:found|available)"
            r"(?: \(required by (?P<by>[^)]{1,200}))?)",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "libstdcxx",
            r"(?P<library>/[^\s:]{1,160}libstdc\+\+\.so\.6)?:? ?(?P<text>version [`'\u2018\"\\]{0,3}(?P<symbol>"
            r"(?:GLIBCXX|CXXABI)_[\d.]+)[`'\u2019\"\\]{0,3} not found(?: \(required by (?P<by>[^)]{1,200}))?)",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "avx-required",
            r"(?P<text>TensorFlow library was compiled to use "
            r"(?P<flags>[\w., ]{2,60}?) instructions,? but these aren't available)",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "wrong-elf-class",
            r"(?P<library>[\w+-]{4,60}\.so[\d.]{0,12}): wrong ELF class: (?P<elf>ELFCLASS\d+)",
            _NO_GPU,
        ),
        Kind(
            "undefined-symbol",
            r"(?P<text>[^\s]{0,160}tensorflow[^\s]{0,120}\.so[\w.]*: undefined symbol: (?P<symbol>(?!cudnn|cublas|cupti|cufft|curand|cusolver|cusparse)\w+))",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "mac-architecture",
            r"mach-o[^|]{0,60}incompatible architecture \(have '(?P<has>[\w,']+)'?,? need '?(?P<needs>\w+)",
            _NO_GPU,
        ),
        Kind(
            "notebook-lacks-tensorflow",
            r"No module named ['\"]?tensorflow['\"]?(?![.\w])[^\n]{0,200}(?i:jupyter|notebook|\bkernel|same (?:conda )?env)|(?i:jupyter|notebook)[^\n]{0,80}No module named ['\"]?tensorflow['\"]?(?![.\w])",
            "op-fails",
        ),
        Kind("async-keyword", r"(?P<text>def TFE_ContextOptionsSetAsync\(\w+, async\))", _NO_GPU, _broken),
        Kind(
            "tf-is-a-file",
            r"(?P<text>No module named '(?P<module>(?:tensorflow|keras|numpy|h5py|six|wrapt|absl)\.[\w.]+)'; '(?:tensorflow"
            r"|keras|numpy|h5py|six|wrapt|absl)' is not a package)",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "tf-is-a-file",
            r"(?P<text>partially initialized module '(?P<module>tensorflow|keras|numpy)' has no attribute[^"
            r"|]{0,80}circular import)|(?P<text2>[Cc]annot import name '\w{1,40}' from partially initialized module '(?P<module2>tensorflow|keras|numpy)'[^\n]{0,60}circular import\) \([^\n)]{0,200}[/\\](?:tensorflow|keras|numpy)\.py\))",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "tf-is-a-file",
            r"(?<!\bNo file )(?<!\bno file )(?<!\bno script )(?i:\b(?:named|called|name (?:is|was)|renam(?:ed|ing)|touch) (?:it |the file |the script |my (?:file|script|program) )?)[`'\"]{0,2}"
            r"(?P<module>tensorflow|keras|numpy|inspect|tokenize|random|copy|queue|types|tempfile|platform|logging|threading|six)\.py\b",
        ),
        Kind(
            "tf-is-a-file",
            r"(?P<text>[Cc]annot import name '\w{1,40}' from (?:partially initialized module )?'(?P<module>code|random|copy|queue|types|tempfile|platform|logging|threading|inspect|tokenize|string|numbers|operator|enum|collections|typing|socket|select|signal|calendar|statistics|secrets|profile|uuid|warnings|struct|keyword|bisect|csv|datetime|decimal|json|six|wrapt|h5py)'[^\n]{0,60}? \((?![^\n)]{0,200}(?:(?:site|dist)-packages|[/\\][Ll]ib(?:64)?[/\\]|[Pp]ython[23]))[^\n)]{0,200}[/\\](?P=module)\.py\))"
            r"|(?P<text2>\(consider renaming '[^'\n]{3,200}\.py' since it has the same name as the standard library module named '(?P<module2>\w+)')",
            _NO_GPU,
            _broken,
        ),
        Kind("tf-source-directory", r"(?P<text>Do not import tensorflow from its source directory)", _NO_GPU, _broken),
        Kind("tf-hollow", r"(?P<text>module '?tensorflow'? has no attribute '?__version__)", _NO_GPU, _broken),
        Kind(
            "numpy-message",
            r"(?P<text>module that was compiled using NumPy 1\.x cannot be run in|compiled against (?:API"
            r"|ABI) version|_ARRAY_API not found"
            r"|Unable to convert function return value to a Python type! The signature was"
            r"|numpy\.\w{2,20} size changed(?:, may indicate|\W{0,3}$)|numpy\.\w{2,20} has the wrong size, try recompiling|numpy\.core\.(?:_?multiarray\w{0,8}|umath) failed to import"
            r"|downgrade to 'numpy<2' or try to upgrade"
            r"|module 'numpy' has no attribute '(?:object|bool|int|float|typeDict|complex|str)'"
            r"|Cannot convert numpy\.ndarray to numpy\.ndarray|`np\.\w+_?` was removed in the NumPy 2\.0)",
        ),
        Kind(
            "protobuf-message",
            r"(?P<text>Descriptors? (?:can ?not|should) (?:not )?be created directly"
            r"|_CheckCalledFromGeneratedFile\(|Downgrade the protobuf package to 3\.20|Set PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python \(but this will|cannot import name '"
            r"\w+' from '?google\.protobuf|'MessageFactory' object has no attribute|unexpected keyword argument '(?:serialized_options|create_key|serialized_pb)|Detected (?:incompatible"
            r"|mismatched) Protobuf Gencode/Runtime|cannot import name '?\"?_message'?\"?"
            r"|module 'google\.protobuf\S*' has no attribute|google\._upb\._message"
            r"|generated code is out of date and must be|Couldn't find field google\.protobuf\."
            r"|This program requires version [\d.]+ of the Protocol Buffer runtime library"
            r"|^(?:-+> ?\d+ +)?_descriptor\.(?:Field|EnumValue|Enum|Service|File)?Descriptor\($)",
        ),
        Kind("protobuf-absent", r"(?P<text>No module named '?(?:google\.)?protobuf)", _NO_GPU, _broken),
        Kind(
            "frame-of-a-namesake",
            r"File \"(?!\S*(?:site|dist)-packages)(?P<file>(?:[^\"]{0,200}[/\\])?(?:tensorflow"
            r"|keras)\.py)\", line",
        ),
        Kind(
            "frame-in-source-tree",
            r"File \"(?!\S*(?:(?:site|dist)-packages|runfiles|_python_build|bazel-))(?P<file>(?:[^\"]{0,200}[/\\]tensorflow[\w.-]{0,20}[/\\])?tensorflow[/\\](?:python[/\\][\w/\\]{1,60}|__init__)\.py)\", line",
        ),
        Kind(
            "api-absent",
            r"module 'tensorflow\.(?:_api\.|(?:keras|experimental|compat|config|data|image|nn|math|io|train)\b)[\w.]{0,60}' has no attribute",
        ),
        Kind(
            "benign-api-of-tf1",
            rf"(?:module '?tensorflow'?|'module' object) has no attribute '?{OF_TF1}|No module named ['\"]?tensorflow\.(?:contrib|examples)\b",
        ),
        Kind(
            "tf-lacks-attribute",
            rf"(?:module '?tensorflow'?|'module' object) has no attribute '?(?!{OF_TF1})(?P<name>\w+)",
        ),
        Kind(
            "device-not-available",
            r"Cannot assign a device for operation(?![^|]{0,400}available devices)|no supported kernel for GPU devices is available"
            r"|device specification '?/?\S{0,40}(?:GPU"
            r"|gpu):\d'? because no devices matching that specification are registered|GPU:\d unknown device",
            "op-fails",
        ),
        Kind(
            "tf-mixed-versions",
            r"(?P<text>Found conflicting TensorFlow installations in this environment: (?P<packages>[\w.+, -]{5,120}))",
            _NO_GPU,
            _broken,
        ),
        Kind(
            "python-has-32-bits",
            r"(?P<text>TensorFlow requires a 64-bit Python interpreter, but this interpreter is 32-bit)"
            r"|^(?![^\n]{0,300}(?:\b(?:should|would|not|old)\b|\b64\b))[^\n]{0,200}?(?P<text2>calcsize\(\W{0,2}P\W{0,2}\) ?\* ?8\W{0,6}(?:prints|gives|returns|says|is|shows|->)?:? {0,2}32\b)",
            _NO_GPU,
            _32_bits,
        ),
        Kind(
            "horovod-not-built",
            r"(?P<text>Extension horovod\.(?:tensorflow|keras)[\w.]{0,12} has not been built)",
            "collective-fails",
        ),
        Kind(
            "horovod-not-there",
            r"(?P<text>No module named ['\"]?horovod\b|module specification for ['\"]horovod\.[\w.]{1,40})",
            "collective-fails",
        ),
        Kind("tf-does-not-load", r"(?P<text>Failed to load the native TensorFlow runtime)", _NO_GPU, _broken),
    ),
)
