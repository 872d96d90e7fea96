"""What people tell of the circumstances. It is weak: it decides only between causes that lines of programs leave open.

Of each kind the first line is kept; a line may tell of several things, so each is a language of its own.
"""

from __future__ import annotations

from .language import Kind, Language

_UPDATED = r"(?:updat|upgrad)"
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "suspended",
        ("uspen", "ibernat", "sleep", "Sleep", "esum", "wak", "Wak", "woke", "Woke", "lappe ", "PM: ", "休眠", "挂起", "睡眠", "ibernac", "eille", "唤醒", "ufwach", "ufweck", "chlaf", "uspende", "espert", "espiert", "uhezust", "ereitschaft", "tandby", "スリープ", "сна", "절전"),
        (r"(?i:\b(?:after|from|since|upon|post|following|comes? back from|into|every|when|whenever|once|if)[- ](?:[\w'-]+ ){0,4}"
        r"(?:suspend|suspension|resum|hibernat|a?sleep|wak(?:e|ing)|woken|woke))"
        r"|(?i:\bgo(?:es)? to sleep\b|\bklappe (?:zu|auf)\b)|PM: (?:suspend (?:entry|exit)|resume from)|(?i:suspend ?(?:/|and|&) ?resume)|(?<!没有)(?:休眠|挂起|睡眠)"
        r"|(?i:^(?![^\n]{0,300}\b(?:nie|jamais|nunca|schon vorher)\b)[^\n]{0,300}?\b(?:tras|despu[eé]s de|al (?:volver|despertar) de|entra en|ap[oó]s|depois d[ae]|apr[eè]s|sortie de|nach|aus) (?:(?:la|una|a|uma|de|l[ae]|une|mise|dem|der|den|einem) ){0,3}(?:suspensi[oó]n|suspens[aã]o|hibernaci[oó]n|hiberna[cç][aã]o|suspend(?:er|re)|veille|standby|ruhezustand|bereitschaft))"
        r"|(?i:\b(?:(?:se|s'est|me|a été) (?:met(?:te|s)?|mise?|mettre) en (?:veille|hibernation)|(?:je |on |l['\u2019])?r[ée]veill(?:e|ons|er|é|ée)s? (?:la |le |mon |l['\u2019])(?:machine|pc|poste|ordinateur|portable|station|serveur)|(?:aus|nach) dem (?:aufwachen|aufwecken|schlaf\w*)|schlafen gelegt|se suspende|(?:lo|la) despierto|al despertarl[oa])\b)|唤醒|スリープ(?:から|後|の後|復帰)|после сна|절전 ?(?:모드 ?)?(?:후|에서|해제)"),
    ),
    (
        "suspend-remedy",
        ("nvidia_uvm", "NVreg_Preserve", "nvidia-suspend", "nvidia-resume", "nvidia-hibernate"),
        (r"(?:rmmod|modprobe(?: -r)?) nvidia_uvm|NVreg_PreserveVideoMemoryAllocations|nvidia-(?:suspend|resume|hibernate)\.service"
        r"|nvidia_uvm\W{0,3} (?:module )?(?:(?:is|was|gets) )?reload"),
    ),
    (
        "fabric-version-named",
        ("abric",),
        r"(?i:fabric.?manager[^.]{0,40}(?:version|release|mismatch)|(?:version|release) of (?:the |its )?fabric.?manager)",
    ),
    (
        "nvswitch-named",
        ("NVSwitch", "nvswitch", "HGX", "DGX", "SXM", "HBM3"),
        r"\b(?:NVSwitch|nvswitch|HGX|DGX(?! (?:Spark|Station))|SXM(?!2)\d?|HBM3)\b",
    ),
    (
        "kernel-updated",
        ("kernel", "Kernel", "内核", "reboot"),
        (rf"(?i:kernel (?:was |is |has been |got |has |were )?(?:just |automatically |auto[- ]?|recently )?{_UPDATED})"
        rf"|(?i:{_UPDATED}(?:ed|ing|e|es) (?:of |to )?(?:the |my |a |its )?(?:new |newer |linux |ubuntu ){{0,3}}kernel)"
        r"|(?i:\b(?:after|since|following) (?:an? |the |my )?(?:os|system|ubuntu|debian|fedora|arch|distro|apt) (?:update|upgrade)[^.\n]{0,20}\breboot)"
        r"|(?i:new(?:er)? (?:linux )?kernel (?:was |is |has been )?(?:installed|update))|更新了?内核|内核(?:自动)?(?:更新|升级)|升级了?内核"),
    ),
    (
        "container-shell",
        ("root@", "host", "modules."),
        r"^\(?[\w-]{0,20}\)? ?root@[0-9a-f]{12}:|host(?:name)?: [0-9a-f]{12}$|could not open (?:moddep|builtin) file '/lib/modules",
    ),
    ("devcontainer-named", ("devcontainer", "Remote-Containers"), r"\bdevcontainer\b|\bRemote-Containers\b"),
    ("compose-named", ("compose", "Compose", "services:", "Attaching to", "Gracefully stopping", "exited with code"), r"(?i:\bdocker[- ]compose\b|\bcompose(?:\.ya?ml| file| service))|^services:$|^Attaching to [\w-]{2,40}[_-]\d\b|^Gracefully stopping\.\.\. \(press Ctrl\+C again|^[\w-]{2,60}[_-]\d{1,2} exited with code \d"),
    (
        "driver-installed-said",
        ("river", "驱动"),
        r"(?i:(?<!no )\bdrivers? (?!is installed and running\b)(?!are installed by (?:neither|none)\b)(?:\S{1,12} )?(?:is|are|was|were|has been|have been|got) (?:already |properly |correctly |successfully )?installed\b(?! and running)|\b(?:I|we)(?:'ve| have)? (?:just |already )?(?:re-?)?installed (?:\S{1,15} ){0,4}drivers?\b)|驱动包?(?:已经|已|是)?(?:装|安装)(?!失败)",
    ),
    ("container-named", ("-gpu image", "ocker", "ontainer", "uadlet", "odman", "ubernetes", "ubeflow", "k8s"), r"(?i:\bno docker(?= (?:com|ap[o\u00f3]s|mas|da|do|de|e|para|que)\b)|(?<!\bno )(?<!without )(?<!without a )(?<!no need for )(?<![a-z])docker(?![^\n:]{0,20}[:=]\W{0,4}(?:no|none|not used|n/?a|false)\W{0,3}$)|\bpodman\b|\bquadlets?\b|\b\d[\w.-]{0,20}-gpu image\b|\b(?:dev)?containers?\b(?!-release-notes)|kubernetes|kubeflow|\bk8s\b)"),
    (
        "nvidia-gpu-named",
        ("orce", "ORCE", "TX", "tx", "MX", "mx", "uadro", "esla", "itan", "TITAN"),
        r"^(?:(?!\.cc:\d)[^\n]){0,300}?(?i:geforce|\b[gr]tx ?\d|\bmx ?[1-5]\d0\b|quadro|tesla [a-z]\d|titan (?:x|v|rtx))",
    ),
    (
        "visible-set",
        ("CUDA_VISIBLE_DEVICES",),
        r"(?<!env: )\bCUDA_VISIBLE_DEVICES['\"]?(?:\]|,| to)? ?[=:]?=? ?(?P<value>['\"] ?(?:[\w./:{}$-]{1,40}(?: ?, ?[\w./:{}$-]{1,40}){0,15})? ?['\"]|(?i:GPU-[0-9a-f-]{6,36})|\$\{?\w{1,20}\}?|-?\d[\d,]{0,40}|(?:(?<=[=:] )|(?<==))(?:all\b|(?:cuda|gpu):\d\b)|(?<==)(?=[\s;]|$))",
    ),
    (
        "one-gpu-there",
        ("one", "One", "single", "Single", "1 ", "only", "Only"),
        (r"(?i:\b(?:I(?: only)? have|I've got|there(?:'s| is)(?: only)?|(?:it|machine|laptop|server|pc|box|system|computer|workstation) (?:only )?has|we have|only has)(?: only| just| exactly)? (?:one|1|a single)(?! (?:of|or more)\b) (?:(?!other|more|another)[\w-]{1,15} ){0,3}?(?:gpu|card|graphics card|[gr]tx|geforce|tesla|quadro|titan)\b(?! (?:per|each|visible|left|free|available|is (?:free|idle)|at|of|for|and (?:one|an?|another))\b)(?![^\n]{0,200}(?:\band (?:one|another)\b|\bthe (?:server|other)\b|\bthere is one\b))"
        r"|\b(?:my|our|(?<!on )(?<!with )(?<!using )(?<!for )(?<!to )(?<!than )(?:a|the)) (?:only|single)(?:[ -]gpu)? (?!gpu (?:training|run|job|mode|model|process|instance|version|code)\b)(?:machine|laptop|server|pc|box|system|computer|workstation|gpu|card)\b(?! (?:does|works?|gets|is (?:used|in use|busy|all))\b)|\bsingle[- ]gpu (?:machine|laptop|server|pc|box|system|computer|workstation)\b)"),
    ),
    (
        "gpu-not-there",
        ("GPU", "gpu", "card", "CPU"),
        (r"^\s{0,8}[-*+] (?i:no (?:nvidia )?gpus?)\W{0,3}$|^\W{0,4}No nvidia gpus?\b(?! (?:found|detected|device))"
        r"|(?i:^(?![^\n]{0,300}\b(?:macbook|imac|mac mini|apple)\b)[^\n]{0,300}?\bthere(?:'s| is) no (?:nvidia )?(?:gpu|graphics? card) in (?:it|(?:the|my|this|our) (?:\w{1,15} )?(?:machine|laptop|server|node|computer|pc|vm|box))\b)"
        r"|(?i:\b(?:my|this|our) (?:\w{1,15} )?(?:machine|laptop|computer|pc|vm|box|notebook) (?:has(?: got)? no|(?:doesn't|does not|doesnt) have an?) (?:nvidia )(?:gpus?|graphics? cards?|cards?)\b(?![^\n]{0,200}\b(?:server|ssh|cluster|remote\w*|workstation|cloud|there)\b))"
        r"|(?i:\bon (?:a|an|my|this|our) (?:\w{1,15} ){0,2}(?:machine|laptop|server|node|computer|pc|vm|box) (?:that has|with) (?:an? )?\W{0,3}CPUs?\W{0,3} only\b)"
        r"|(?i:\b(?:when|if|since|because|as) (?:a|an|the|my|this|our|that) (?:\w{1,15} ){0,2}has \W{0,3}no\W{0,3} (?:nvidia )?gpus?\b(?![^\n]{0,200}\b(?:server|ssh|cluster|remote\w*|workstation|cloud|there)\b))"
        r"|(?i:\bon (?:a|an|my|this|our) (?:\w{1,15} ){0,2}(?:machine|laptop|server|node|computer|pc|vm|box|instance)\b[^.\n]{0,16}(?<![a-z])[_*]{0,2}without[_*]{0,2} (?:a |any |an )?(?:nvidia )?(?:gpus?|graphics? cards?)\b)"),
    ),
    ("linker-avoided", ("xla_gpu_force_compilation_parallelism",), r"xla_gpu_force_compilation_parallelism"),
    (
        "cuda-required",
        ("CUDA", "uda"),
        (r"^(?![^\n]{0,300}\.cc:\d)[^\n]{0,300}?(?i:\bcuda(?: toolkit)?[ -]?v?\d{1,2}(?:\.\d)? (?:is|are) (?:what [\w ]{1,40} needs|required|needed|necessary|mandatory|a must)\b"
        r"|\b(?:requires?|needs?|(?:only )?works? only with|only works with|depends on|is built for|was built for|(?:is |was )?written for|tied to) (?:the )?cuda(?: toolkit)?(?: version)?[ -]?v?\d)"),
    ),
    ("kaggle-named", ("aggle",), r"(?i:\bkaggle\b)"),
    ("jax-lacks-cuda", ("jaxlib",), r"CUDA-enabled jaxlib is not installed"),
    (
        "keras-on-another",
        ("KERAS_BACKEND", "backend", "'jax'", "'torch'"),
        r"\bKERAS_BACKEND\W{1,8}(?P<backend>jax|torch)\b|^\W{0,4}3\.\d{1,2}\.\d{1,2}'?, '(?P<backend4>jax|torch)'\)?$|\bUsing (?P<backend2>JAX|PyTorch) backend\b|\bbackend[\"']? ?[:=] ?[\"'](?P<backend3>jax|torch)\b|(?i:\bkeras(?:\.json|\.config|\.backend)?\b[^.\n]{0,40}\bbackend(?:\(\))?['\"`]{0,2} (?:is|was|says|gives|returns|prints|shows|set to|=+>?|->|\u2192) (?:set to )?['\"`]?(?P<backend5>jax|torch)\b)",
    ),
    ("redistributable-here", ("VC++", "Visual C++", "edistributable"), r"(?i:\b(?:installed|have|has|with|and|also)\b[^.\n]{0,60}\b(?:VC\+\+|Visual C\+\+)[^.\n]{0,30}\b(?:20\d\d|redist\w*)|\bredistributable\b[^.\n]{0,30}\binstalled\b|^\W{0,4}(?:\d{1,2}[.)] )?(?:microsoft )?visual c\+\+ 20\d\d[^\n]{0,24}redistributable\b(?![^\n]{0,60}\b(?:missing|required|needed|not)\b))"),
    (
        "memory-is-free",
        ("GB", "MiB", "free"),
        r"(?:^|[^\d])0 ?MiB / {1,3}\d{4,6} ?MiB|(?i:\b(?:has|have|are|is|with) \d{1,2} ?GB (?:of (?:gpu )?memory )?free\b|\b\d{1,2}(?:\.\d)? ?(?:GB )?(?:of|/) ?\d{1,2} ?(?:GB )?(?:is |are )?free\b|\bfree memory\b[^.\n]{0,12}\d{1,2} of \d{1,2} ?GB|\b(?:gpu|card|memory) is (?:completely |totally )?(?:empty|free)\b)",
    ),
    ("address-space-limited", ("virtual memory", "ulimit", "h_vmem"), r"\bvirtual memory +\(kbytes, -v\) +\d{5,10}\b|\bulimit -v \d{5}|\bh_vmem=\d"),
    ("libdevice-named", ("libdevice",), r"(?i:\b(?:no|not|can(?:'t|not)|missing|find|locate)\b[^.\n]{0,30}\blibdevice\b|\blibdevice\b(?:\.compute_\d\d\.\d\d\.\w{2})?[^.\n]{0,30}(?:\b(?:not found|missing)\b|n't (?:be )?found\b))"),
    ("image-for-gpu", ("tensorflow/tensorflow:",), r"\btensorflow/tensorflow:\S{0,40}gpu"),
    (
        "cpu-image",
        ("tensorflow/tensorflow", "tensorflow/serving"),
        (r"(?:\b(?:docker|podman)\b[^\n]{0,300}?\srun\s[^\n]{0,300}\s|^FROM |\bimage\"?[:=] ?[\"']?)(?:docker\.io/)?"
        r"tensorflow/(?:tensorflow|serving)(?::(?!\S{0,40}gpu)[\w.-]{1,40})?(?=[\s\"',]|$)"),
    ),
    ("runtime-class-named", ("untimeClass", "untime class"), r"(?i:\bruntime ?class(?:name)?\b)"),
    ("mig-asked", ("MIG-", "VISIBLE_DEVICES="), r"CUDA_VISIBLE_DEVICES\W{1,3}MIG-[\w/-]{8,80},[\"' ]{0,3}MIG-|NVIDIA_VISIBLE_DEVICES=\d:\d,\d:\d"),
    ("nvidia-build-named", ("nvidia", "NVIDIA-Linux-"), r"/dkms/nvidia|\bnvidia-dkms|-m nvidia\b|NVIDIA-Linux-|\bnvidia[/,-] ?\d{3}\."),
    ("ide-named", ("harm", "VS", "pyder", "clipse", "ntelli", "isual Studio", "reator", "tudio", "eans", "lion", "IDE"), r"(?i:\b(?:pycharm|intellij|vs ?code|visual studio code|spyder|eclipse|pydev|qt ?creator|rstudio|netbeans|clion)\b)|\bIDE\b"),
    (
        "file-is-there",
        ("there", "exist", "resent", "files are", "file is", "are in", "is in", "lies", "npacked", "opied", "in place", "in path", "in PATH", "the path", "the PATH", "on path", "on PATH", "my path", "my PATH"),
        (r"(?i:(?<!\bwhy )\b(?:the|that|this|these|those|all) (?:[\w.-]{1,30} )?(?:files?|dlls?|librar(?:y|ies)|\.so) (?:\w+ ){0,2}?(?:(?:is|are) (?:all |really |actually |definitely |in fact |right |already )?(?:there\b(?! (?:a|any|no)\b)|present|in (?:place|(?:that|the|this) (?:directory|folder|path)))|(?:do |does |really )?exists?\b)"
        r"|\b(?:files?|dlls?|librar(?:y|ies)) (?:\w+ )?(?:is|are|was|were|lies?|sits?) (?:\w+ ){0,2}?(?:in|to|at|under|into) [`'\"]?(?:[/~$]|C:)(?!dev/)"
        r"|\b[\w.-]{0,30}(?:\.dll|\.so(?:\.\d{1,2}){0,3})\b['\"`)]{0,2} (?:\w+ ){0,2}?(?:is (?:there\b|present|in (?:place|(?:that|the|this) (?:directory|folder|path)))|exists)"
        r"|\b(?:file|dll|library|it|they|those|these) (?:(?!card|gpu)\w+ ){0,2}?(?:sits?|lies|exists?|is|are) (?:right )?(?:there|in (?:the|that) (?:bin|lib|lib64|cuda) (?:directory|folder)))(?![^.\n]{0,3}\?)"
        r"|(?i:\b(?:cuda|cudnn)\W{0,2} (?:bin |lib )?(?:paths?|director(?:y|ies)|folders?) (?:is|are) (?:all |already |correctly |properly )?(?:in|on) (?:the |my |system )?(?:path|environment)\b)"),
    ),
    (
        "shell-works",
        ("erminal", "ommand", "shell", "onsole", "bash", "prompt", "ssh"),
        (r"(?i:\b(?:works?|worked|working|fine|ok|okay|runs?|ran|succeeds?|imports?|imported|no (?:error|problem|issue)s?)\b[^.\n]{0,60}\b(?:from|in|on|by|through|via|under|with) (?:the |a |my |an )?(?:\w+ )?(?:terminal|command[- ]line|shell|console|bash|prompt|ssh)\b"
        r"|\b(?:from|in|on|through|via) (?:the |a |my |an )?(?:\w+ )?(?:terminal|command[- ]line|shell|console|bash|prompt|ssh)\b[^.\n]{0,50}\b(?:works?|worked|fine|ok|okay|runs?|ran|succeeds?|no (?:error|problem|issue)s?)\b)"),
    ),
    (
        "service-named",
        ("systemd", "cron", "supervisor", "wsgi", "pache", "gunicorn", ".service", "service", "daemon"),
        r"(?i:^(?![^\n]{0,120}\bnvidia-[\w-]{3,20}\.service\b|[^\n]{0,120}\bsystemd/logind)[^\n]{0,400}?\b(?:systemd|crontab|cron ?job|supervisord?|uwsgi|mod_wsgi|apache2?(?!(?: software)? ?(?:licen[cs]e|foundation)|[- ]?2\.0|[ .-](?:spark|arrow|beam|airflow|mxnet|tvm|org|maven)\b)|gunicorn)\b|\bas a (?:system |linux )?(?:service|daemon)\b)",
    ),
    (
        "host-works",
        ("host",),
        r"(?i:\bon (?:the|my) host\b[^.\n]{0,60}\b(?:works?|fine|ok|runs|shows|sees)\b|\b(?:works?|fine|ok|runs) (?:\w+ )?on (?:the|my) host\b|\bhost (?:\w+ )?(?:is )?(?:fine|ok|works)\b)",
    ),
    (
        "several-programs",
        ("two ", "Two ", "2 ", "second", "Second", "another", "both", "multiple", "several"),
        r"(?i:\b(?:two|2|second|another|both|multiple|several) (?!(?:\w+ )?(?:stages?|phases?|steps?|epochs?|times?|sec\w{0,5}|min(?:ute)?s?|hours?|days?|weeks?)\b)(?:\w+ ){0,2}?(?:scripts?|programs?|process(?:es)?|notebooks?|kernels?|jobs?|sessions?|trainings?)\b)",
    ),
    ("wheel-libs-named", ("-packages",), r"(?:site|dist)-packages[/\\\\]nvidia[/\\\\](?:c|\*)"),
    ("wheel-libs-asked", ("nvidia.c",), r"\bnvidia\.(?:cudnn|cublas|cuda_\w{3,12})\b(?:\.lib)?"),
    ("run-by-sudo", ("sudo ",), r"\bsudo (?:-\w+ )?(?:\./|(?:\S{0,60}/)?(?:python|jupyter|ipython)[\d.]{0,4} |\S{1,60}\.py\b)"),
    ("protobuf-named", ("rotobuf", "_pb2", "rotocol"), r"(?i:^(?!(?:requires(?:-dist)?|required-by|collecting|requirement already|installing collected|successfully installed|downloading|using cached)\b)[^\n]{0,600}?(?:\bprotobuf\b|(?<!# )\bprotocol buffers?\b))|_pb2(?:\.py\b| import )"),
    (
        "another-framework",
        ("orch", "arknet", "heano", "affe", "axnet", "MXNet", "mxnet", "jax", "JAX", "upy", "umba", "CuPy"),
        (r"(?i:(?<!framework: \()\b(?:tensorflow|keras|tf)\b(?!, (?:keras, )?pytorch, mxnet\))[^\n]{0,100}\b(?:pytorch|torch|darknet|theano|caffe2?|mxnet|jax|cupy|numba)\b"
        r"|\b(?:pytorch|torch|darknet|theano|caffe2?|mxnet|jax|cupy|numba)\b[^\n]{0,100}\b(?:tensorflow|keras|tf)\b)"),
    ),
    ("vgpu-licence-named", ("GPU", "gpu"), r"(?i:\bvgpu\b.{0,40}\blicen[sc]|\blicen[sc]e.{0,40}\bvgpu\b)"),
    (
        "takes-long",
        ("that long", "so long", "very long", "really long", "too long", "long time", "longer", "forever", " ages", "minutes", "Minutes", " mins", " hour", "long start"),
        (r"^(?![^\n]{0,400}\b(?:compiled from PTX|30 minutes or longer)\b)[^\n]{0,300}(?i:\b(?:tak(?:es?|ing)|took|wait(?:s|ed|ing)?|needs?|hangs?|stuck|lasts?)\b[^.\n]{0,40}\b(?:long(?:er)?|forever|ages|(?:minutes?|mins?|hours?))\b"
        r"|\b(?:long|minutes) (?:start\w*|delay|initiali\w+|wait\w*|load\w*) )"),
    ),
    (
        "mixed-precision-named",
        ("ixed", "AMP", "MIXED_PRECISION"),
        r"mixed_(?:b?float16|precision)|(?i:\b(?:auto(?:matic)? )?mixed[ -]precision)|TF_ENABLE_AUTO_MIXED_PRECISION|\bAMP\b",
    ),
    (
        "memory-grows",
        ("emory", "RAM", "内存"),
        (r"(?i:(?<!gpu )(?<!video )(?<!device )\b(?:host |system |cpu |main )?(?:memory|RAM)(?: usage| consumption| use)?\b[^.\n]{0,30}\b(?:keeps? (?:on )?(?:grow|increas|ris|climb|go)ing"
        r"|(?:grows?|increases?|rises?|climbs?)\b[^.\n]{0,30}\b(?:over time|continuously|constantly|steadily|gradually|every (?:epoch|step|batch|iteration)|with (?:each|every))"
        r"|(?:is |kept )?(?:continuously|constantly|steadily|gradually) (?:grow|increas|ris|climb)\w{2,3})\b)|(?<!显)内存[^。\n]{0,12}(?:不断|持续|一直|越来越)[^。\n]{0,4}(?:增长|增加|上涨|升高|变大|高)"),
    ),
    (
        "first-start-long",
        ("first", "First"),
        (r"^(?![^\n]{0,300}\b(?i:epoch|batch|download|install|import|build|pip\b|docker|upload|weights))(?=[^\n]{0,300}\b(?i:min(?:ute)?s?)\b)[^\n]{0,300}(?i:\bfirst (?:start|time|run|launch|session|call|use|execution|initiali[sz]ation)\b)"),
    ),
    (
        "gpu-in-spikes",
        ("GPU", "gpu", "nvidia-smi"),
        (r"(?i:\bGPU (?:usage|utili[sz]ation|util|load)\b[^.\n]{0,80}\b(?:up and down|in spikes|fluctuat\w{1,4}|oscillat\w{1,4}|jump\w{0,3} between|bounc\w{1,3} between|(?:varies|goes|going|jumps?|jumping|drops?|swings?|switch\w{0,3}|alternat\w{1,4}|spikes?) (?:between|from|to|up|back|down)? ?[\d~]|jumps? (?:up|around|a lot)|(?:spikes|peaks) (?:to|of|at)|like a (?:saw|comb|heart))"
        r"|(?<![\d.])0 ?%? ?(?:[-,\u2013>]{1,2}|then|to|and|\u2192) ?(?:[5-9]\d|100) ?% ?(?:[-,\u2013>]{1,2}|then|to|and|\u2192) ?0 ?%|\b0 0 (?:0 ){0,8}(?:[5-9]\d|100) 0 0"
        r"|\bspikes? (?:in|of) (?:the )?GPU (?:usage|utili[sz]ation|load))"),
    ),
    (
        "input-blamed",
        ("low", "long", "ottle", "hold", "time"),
        (r"(?i:\b(?:data (?:loading|loader|pipeline)|input pipeline|pre-?processing|transforming the images|google drive|flow[ _]from[ _]directory|image_dataset_from_directory|data ?generators?|reading (?:the )?(?:images|files|data))\b[^.\n]{0,60}"
        r"\b(?:slow(?:ly|er)?|(?:is|are|as|seems?|seems? to be|appears? to be) (?:the|a) bottle ?neck|holds? (?:it|the gpu|everything|things) up|(?:ridiculously|very|so|too) long)\b"
        r"|\binput(?: pipeline)?\b[^.\n]{0,12}\b(?:wastes?|takes?|costs?|eats?|needs?) (?:a )?(?:lots? of|much|most of|too much|nearly all|all) (?:of )?(?:the )?time\b)"),
    ),
    (
        "input-by-python",
        ("fit_generator", "ImageDataGenerator", "Sequence", "PyDataset", "from_generator", "py_func", "feed_dict", "numpy_function"),
        r"\b(?:fit_generator|ImageDataGenerator|keras\.utils\.(?:Sequence|PyDataset)|from_generator|py_func(?:tion)?|(?<!options, )feed_dict(?!, ?(?:fetch_list|options))|numpy_function)\b",
    ),
    (
        "data-in-memory",
        ("RAM", "ram", "emory", "ecoded", "npy"),
        (r"(?i:\b(?:load(?:ed|s)?|held|kept|cached|fits?|is|are|all|entirely|completely|stays?)\b(?! (?:the |a |your |my |this )?(?:model|weights|network|checkpoint|kernel|librar))[^.\n]{0,20}\b(?:in|into|to) (?:the )?(?:host |main |system )?(?:ram|memory)\b"
        r"|\b(?:decoded|preprocessed|converted) (?:beforehand|before|already|once)\b|\balready (?:decoded|preprocessed)\b|\bnpy (?:file|array)|\.npy\b)"),
    ),
    (
        "riser-named",
        ("iser", "ining", "x1", "BTC"),
        r"(?i:\brisers?\b|\b(?:ex-?)?mining (?:frame|rig|board|mother ?board|machine|case|expert|pro)|\bPCI-?e? ?x1\b|\bx1 (?:slots?|risers?|links?|PCI)|\bBTC\+?\b)",
    ),
    (
        "less-data-works",
        ("work", "fine", "OK", "ok", "run", "fit"),
        (r"(?i:\b(?:when|if|with|after|once|using)\b[^.\n]{0,40}\b(?:cut|slic\w{1,4}|subset|fewer|less data|smaller (?:array|part|data ?set|sample)|part of|half of|(?:the )?first \d|only \d{1,6} (?:images|samples|rows|examples))\b[^.\n]{0,60}\b(?:works?|worked|runs?|ran|fine|ok|fits)\b"
        r"|\[ ?: ?\d{1,7} ?\][^.\n]{0,40}\b(?:works?|worked|runs?|ran|fine|ok|fits)\b|\b(?:works?|worked|runs|ran|fine|fits) (?:\w+ ){0,2}(?:with|if|when|for|on)\b[^.\n]{0,40}(?:\[ ?: ?\d{1,7} ?\]|\b(?:fewer|less data|a subset|a part of|a smaller (?:array|part|data ?set|sample)|(?:the )?first \d))"
        r")"),
    ),
    (
        "processor-full-gpu-idle",
        ("CPU", "cpu"),
        (r"(?i:\bCPU\b[^.\n]{0,30}\b(?:\d{3,4}|9\d) ?%[^.\n]{0,60}\bGPU\b[^.\n]{0,30}\b\d ?%[^.\n]{0,12}\b(?:for (?:more|most|the most|the majority|nine|over)|most of|mostly|of the time|in between))"),
    ),
    ("plain-pip-said", ("pip install", "pip3 install"), r"\bpip3? install (?:-{1,2}[\w-]{1,20} ){0,3}[`'\"]?tensorflow(?:==[01]\.[\d.]{1,6})?(?![\w\[=.-]|>|<)"),
    ("gpu-memory-short-said", ("OOM", "ut of memory", "free memory", "freeMemory"), r"\bOOM\b|(?<!Error 2: )\b[Oo]ut of memory\b|\bfree ?[Mm]emory is only\b|\bfreeMemory: ?\d[\d.]{0,7}MiB"),
    (
        "wants-processor",
        ("CPU", "cpu", "without GPU", "without a GPU"),
        r"(?i:\b(?:run(?:ning)?|train(?:ing)?|execut(?:e|ing)|try(?:ing)?|us(?:e|ing)) (?:the |my |this |it )?(?:code |model |script |example |everything )?(?:only )?on (?:the |a |my )?CPU\b(?!['s]| instead| only| (?:is|was|works?|worked|runs?|goes|went) (?:\w+ )?(?:ok|okay|fine|well|good|perfectly|without)\b)(?=[^?]{0,200}$)|\binstall\w{0,3} (?:\w+ )?(?:on|in) [\w ]{1,20} without (?:a )?GPU\b)",
    ),
    (
        "runtime-class-needed",
        ("runtimeClassName",),
        (r"(?i:\b(?:(?:needs?|have|had|has|required|necessary) to (?:add|set|specify|use|have)|must (?:add|set|specify|use|have))\b[^.\n]{0,25}runtimeClassName"
        r"|\b(?:without|unless|only (?:works? )?(?:with|if|when))\b[^.\n]{0,25}runtimeClassName)"),
    ),
    (
        "goes-wrong",
        ("wrong", "n't ", "not ", "diverge", "explode"),
        r"^(?![^\n]{0,200}\.cc:\d)[^\n]{0,300}?(?i:\b(?:goes? wrong|wrong (?:results?|numbers|loss(?:es)?|values|outputs?)|(?:does(?:n't| not)|won't) (?:work|train|learn|converge)|diverges?|explodes?)\b)",
    ),
    ("memory-at-start", ("Free memory: ",), r"Total memory: (?P<total>\d[\d.]{0,8} ?[KMG]?i?B)\W{1,3}Free memory: (?P<free>\d[\d.]{0,8} ?[KMG]?i?B)"),
    ("p2p-on-tried", ("NCCL_P2P_DISABLE",), r"\bNCCL_P2P_DISABLE=0\b"),
    ("p2p-off-tried", ("NCCL_P2P_DISABLE",), r"\bNCCL_P2P_DISABLE=1\b"),
    (
        "slow-start",
        ("start", "Start", "START", "loading", "nitiali"),
        r"(?i:\bto start(?: up)? (?:the |a )?(?:training|session|program|model)\W{0,4}[^.\n]{0,12}?\b(?:takes?|took|needs?)\b[^.\n]{0,40}?\b(?:long(?:er)?|min(?:ute)?s?|hours?|hrs?)\b|\b(?:start-?up|starting|launch|initiali[sz]ation|loading)\b(?: (?:of|time|the|tensorflow|tf|a|model|program|is|takes|was|are)){1,5} (?:(?:extremely|very|really|so|too|awfully|incredibly) )?(?:slow|long|forever|ages)\b|\b(?:slow|long|sluggish)\b\W{1,4}(?:\w+ ){0,2}(?:start(?:s|-?up)?|until (?:the )?training starts|model loading|loading of (?:the )?models?|initiali[sz]ation)\b)",
    ),
    (
        "device-line-waits",
        ("Adding visible", "Created TensorFlow", "Creating TensorFlow"),
        r"^(?![IWE\d \[])[^\n]{0,20}(?:Adding visible gpu device|Creat(?:ed|ing) TensorFlow device)|^(?!.{0,30}\.cc:\d)[^\n]{0,200}(?:Adding visible gpu device|Creat(?:ed|ing) TensorFlow device)[^\n]{0,80}\bmin(?:ute)?s\b",
    ),
    (
        "cuda-compat-named",
        ("ompat",),
        r"\b(?i:cuda)[-_ ]?compat(?:-\d{1,2}-\d)?\b(?!\.)|\bcuda[-/_]v?\d{1,2}\.\d[\w.]{0,6}[-_]compat\b(?!\.)|(?i:\b(?:forward[- ])?compat(?:ibility)? (?:packages?|libs?|librar(?:y|ies)|libcuda|modules?)\b|\blibcuda (?:of|from) [^.\n]{0,30}\bcompat\b)",
    ),
    (
        "smi-works",
        ("nvidia-smi", "NVIDIA-SMI", "nvidia smi"),
        (r"(?i:\b(?:checked|confirmed|verified|seen|visible|listed|shown)(?: it)? (?:with|by|in|using) [`'\"]?nvidia-smi\b)|(?i:\bnvidia[- ]smi\b(?!['\"`)]{0,2} ?(?:\w+ ){0,3}?(?:not|never|fails|\w{2,5}n't)\b)['\"`)]{0,2} ?(?:正常|没问题|(?:\w+ ){0,3}?(?:works?|fine|ok|okay|shows? (?:the|my|all|both)|runs fine|lists? (?:the|my|all|both)|normal(?:ly)?)\b(?! (?:not|if|when|only))))"),
    ),
    ("lxc-named", ("LXC", "LXD", "lxc", "lxd", "Proxmox", "proxmox"), r"\b(?:LX[CD]|lx[cd]|[Pp]roxmox)\b"),
    (
        "other-kernel-works",
        ("kernel",),
        (r"(?i:\b(?:with|on|in|under|using|booting) (?:the |an? |my )?[`'\"]?(?:linux(?:-lts)?|lts|older|old|previous|stock|regular|normal|default|other|[2-6]\.\d{1,2}[\w.-]{0,40})[`'\"]? kernel[^.\n]{0,30}\b(?:works?|worked|to work)\b"
        r"|\bworks? (?:\w+ ){0,2}(?:with|on|in|under|using) (?:the |an? )?[`'\"]?(?:linux-lts|lts|older|old|previous|stock|[2-6]\.\d{1,2}[\w.-]{0,40})[`'\"]? kernel)"),
    ),
    (
        "path-not-set",
        ("path", "PATH"),
        (r"(?i:\b(?:did(?:n't| not)|have(?:n't| not)|never|without) (?:even |ever )?(?:set|setting|export(?:ed|ing)?|add(?:ed|ing)?) (?:up )?(?:any |the |an? )?(?:\w+ )?(?:paths?\b(?! to the data)|LD_LIBRARY_PATH)|\bno (?:such )?paths? (?:was|were|is|are|has been|have been) (?:ever )?set\b|\b(?:about|mentions?|of) (?:(?:setting|adding|exporting) )?(?:a |any |the )?paths?\b[^.\n]{0,30}\b(?:did(?:n't| not)|have(?:n't| not)|never) (?:set|add|export)\w* (?:one|any|it)\b)"),
    ),
    (
        "load-decides",
        ("batch", "ower", "emp", "spike", "heat", "watt", "Watt"),
        (r"(?i:\b(?:large|larger|big|bigger|high|higher|small|smaller|low|lower) batch[- ]?sizes?\b|\bbatch[- ]?size of \d+ or (?:less|smaller|lower)|\bpower (?:usage|draw|consumption|limit|spikes?|peaks?)\b"
        r"|\btemp(?:erature)?s?\b[^.\n]{0,40}\b(?:good|fine|ok|okay|normal|low|below|under|within|not (?:too )?(?:high|hot))\b|\bnot? (?:an? )?(?:overheat|heat|temperature)\w*)"),
    ),
    (
        "only-several-wrong",
        ("GPU", "gpu", "card"),
        (r"(?i:\bonly (?:with|on|when using|when I use|if I use|happens with|for) (?:multiple|several|more than one|two|2|both|multi) ?-?gpus?\b"
        r"|\b(?:with|on|using) (?:1|one|a single|only one|just one|only 1) (?:GPU|card)\b[^.\n]{0,60}(?:\.|\b)[^.\n]{0,80}\b(?:no [`'\"]?nan|no (?:issue|problem)s?|fine|works|ok|correct|right results))"),
    ),
    (
        "machine-was-changed",
        ("server", "oard", "machine", "workstation"),
        r"(?i:\b(?:new|newer|(?<!on )(?<!on my )(?<!on the )(?<!on an )(?:another|other|different)) (?:server|mother ?board|main ?board|machine|workstation|chassis)\b|\b(?:out of|from) (?:an? |my |the |our )?(?:old|older|previous|former|other) (?:\w+ )?(?:server|machine|workstation|box|chassis|board)\b)",
    ),
    (
        "pairs-behind-switch",
        ("PIX", "PXB", "switch"),
        (r"(?i:\b(?:fails?|failing|hangs?|nan|wrong|crash\w*|stuck|freez\w*|training error|only happens)\b)[^.?\n]{0,100}\bP(?:IX|XB)\b|\bP(?:IX|XB)\b[^.?\n]{0,80}(?i:\b(?:fails?|failing|hangs?|nan|wrong|crash\w*|stuck|freez\w*)\b)"),
    ),
    (
        "gpus-on-two-processors",
        ("rocessor", "CPU", "ocket", "ridge", "omplex"),
        (r"^(?=[^\n]{0,800}(?i:\bgpus?\b|\bcards?\b|\bslots?\b|\bboards?\b|\bK\d0\b))[^\n]{0,800}?(?i:\b(?:at|on|to|of|off|under|behind|by) (?:the |a |its |an )?(?:second|2nd|other|another|different|separate|two different) (?:processors?|CPUs?(?! (?:cores?|machine|server|box|host))|(?:CPU )?sockets?|host bridges?|root complex(?:es)?)\b"
        r"|\b(?:CPU|processor|socket) ?[01]\b[^.\n]{0,60}\b(?:CPU|processor|socket) ?[12]\b)"),
    ),
    (
        "no-selinux", ("SELinux", "selinux", "SElinux", "enforce"), (r"(?i:^(?![^\n]{0,300}(?<!not )(?<!n't )\b(?:works?|worked|fix\w{0,3}|solve[sd]?|helps?|helped|cure[sd])\b)[^\n]{0,400}?(?:\b(?:no|without|not using|don't (?:use|have)|(?:disabled?|disabling|turn\w{0,3} off) (?:the )?)\W{0,2}selinux\b|\bselinux\b\W{0,3}(?: \w+)?[ \t]{0,3}(?:(?:is|was|are)(?: not|n't) (?:in use|used|enabled|active|installed|running|on\b|enforcing)"
        r"|(?:(?:is|was|has been|set to|switched|turned|status|mode) ){0,2}\W{0,3}(?:off|disabled|permissive|no)\b)|\bselinux=(?:0|disabled|permissive)|\bsetenforce 0|\bgetenforce\b\W{0,4}(?:\w+ ){0,2}(?:disabled|permissive)\b))"),
    ),
    (
        "plugin-named",
        ("device plugin", "device-plugin", "evice Plugin", "ubernetes", "k8s"),
        (r"(?i:\bdevice[- ]plugin\b|\b(?:runtime nvidia|nvidia runtime|nvidia-docker2?)\b[^.\n]{0,60}\b(?:kubernetes|k8s)\b|^[^.\n]{0,20}\bdeployed in (?:kubernetes|k8s)\b)"),
    ),
    (
        "minimum-named",
        ("apability",),
        (r"(?i:\b(?:needs?|wants?|requires?|asks for|minimum)\b[^.\n]{0,40}\bcompute capability(?: of)? (?P<least>\d\.\d)\b(?: or| at least| and)?"
        r"|\bcompute capability(?: of)? (?P<least2>\d\.\d) (?:or (?:more|higher|above|greater|newer)|at least|is (?:needed|required)|minimum))"),
    ),
    ("path-shown", ("LD_LIBRARY_PATH", "ldconfig", "ld.so.conf", "PATH="), r"LD_LIBRARY_PATH|\bldconfig\b|\bld\.so\.conf\b|\bPATH="),
    (
        "lost-at-work",
        ("rain", "load", "use", "epoch", "hours", "minutes", "intensive", "训练", "重启"),
        (r"(?i:\b(?:while|during|after|when|in the middle of|randomly|sometimes|suddenly|now and then|start an?)\b[^.\n]{0,60}\b(?:train\w*|under load|epochs?|gpu.intensive|gpu is in use|(?:few |several |some |\d+ )(?:hours?|minutes?))\b)"
        r"|训练[^。\n]{0,30}(?:用不了|停|掉|失败|出错)|需要重启"),
    ),
    (
        "wants-other-cuda",
        ("CUDA", "uda"),
        r"(?i:\b(?:look(?:s|ed|ing)?|search(?:es|ed|ing)?|ask(?:s|ed|ing)?|wants?|tries|tried) (?:for )?(?:(?:the )?(?:libraries|libs|files) (?:of|for|from) )?cuda (?P<wanted>\d{1,2})(?:\.\d)?(?: (?:libraries|libs|files|dlls))?,? ?(?:not|instead of|rather than|and not) (?:those )?(?:of |for |from )?(?:cuda )?(?P<has>\d{1,2})\b)",
    ),
    ("heat-named", ("heat", "Heat", "hot", "°C", "thermal", "Thermal"), r"(?i:\b(?:over)?heat(?:s|ed|ing)?\b|\btoo hot\b|\bthermal(?! slowdown {0,40}: ?not))(?<!not overheating)(?<!no overheating)|\b(?:9\d|1[01]\d) ?°C"),
    (
        "cudnn-named",
        ("udnn", "uDNN", "UDNN"),
        r"(?i:\bcudnn\b[^.\n]{0,30}\binstalled\b|\binstalled\b(?! version of CUDA and cuDNN: ?$)[^.\n]{0,60}\bcudnn\b|\bcudnn[ _:=v-]{1,3}\(?\d|\bcudnn\b[^.\n]{0,20}\bworks (?:fine |well )?(?:in|with|for)\b)",
    ),
    (
        "one-of-several-works",
        ("only ", "Only ", "idle", "one ", "gpu 0", "GPU 0", "gpu0", "GPU0", "other"),
        (r"(?i:\bonly (?:the first|one)(?: (?:of|out of) (?:the|my|them|those|these|all|four|4|8|two|2)[^.\n]{0,14})?(?: ?(?:GPU|card|device)(?:'?s)?)? (?:(?:is|gets|was|are) (?:being |actually |really )?)['\"]?(?:used|utili[sz]ed|busy|active|working|loaded|under load)\b)"
        r"|(?i:\bonly (?:uses?|takes?|loads?) (?:one|a single|the first) (?:GPU|card)\b)"
        r"|(?i:\b(?:the )?memory\b[^.\n]{0,30}\b(?:both|all|each|every|two|four|eight)\b[^.\n]{0,60}\b(?:but|while|yet|and)\b[^.\n]{0,30}\b(?:only )?(?:one|the first|a single|gpu 0|gpu0)\b[^.\n]{0,40}\b(?:only|work\w*|busy|used|utili[sz]\w+|comput\w+|active|cores?|load)\b)"
        r"|(?i:\bgpu ?0\b[^.\n]{0,24}?\b(?:[3-9]\d|100)(?:-\d{2,3})? ?%?[^.\n]{0,20}\bgpu ?1\b[^.\n\d]{0,16}\b[01] ?%?(?![\d.]))"),
    ),
    (
        "others-are-seen",
        ("x ", "x V", "x A", "x P", "x T", "xV", "xA", "there are", "There are", "There is", "there is", "ee", "ist", "how", "etect", "isible", "ecogni", "has ", "have ", " got ", " use "),
        (r"(?i:\bthere (?:are|is) (?:[2-9]|two|three|four|eight) (?:[\w-]{1,12} ){0,3}(?:GPU'?s?|cards)\b)|(?<![\w.])[2-8] ?x ?(?i:(?:nvidia |geforce |tesla )?(?:titan|rtx|gtx|[vpatk]\d{2,3}\b|h100|quadro))|(?i:\b(?:I|we)\s{1,3}(?:have|'ve got|got|use)\s{1,3}(?:[2-9]|1\d|two|three|four|eight) (?:[\w-]{1,12} ){0,4}(?:GPU'?s?|cards)\b)"
        r"|(?i:\b(?:machine|box|server|system|computer)\b[^.\n]{0,30}\bhas (?:[2-9]|1\d|two|three|four|eight) (?:of them|GPUs|cards)\b)|(?i:\b(?:sees?|lists?|shows?|detects?|recogni[sz]es|finds?|visible)\b[^.\n]{0,30}\b(?:all\b(?! right)|both\b|the other(?: one)?s?|[2-9](?![\w.]| ?%)|four|eight|two) ?(?:of (?:them|the))?(?: GPU'?s?| cards?| devices| ones?)?)"),
    ),
    (
        "module-not-rebuilt",
        ("rebuil", "dkms install", "re-built"),
        (r"(?i:\b(?:not|n't|no longer|never) (?:being |get |getting |automatically )*re-?buil[dt]\b[^.\n]{0,40}\bkernel|\bdkms install\b[^.\n]{0,60}\b(?:after|for|at) (?:each|every|a new) (?:new )?kernel)"),
    ),
    ("tensorflow-of-the-user", ("/.local/lib/python",), r"/\.local/lib/python[\d.]{1,5}/site-packages/tensorflow"),
    (
        "python-of-an-environment",
        ("/envs/", "/venv", "/virtualenvs/"),
        r"/(?:envs|venvs?|virtualenvs)/[^/\"'\n]{1,60}/lib/python[\d.]{1,5}/(?:imp|importlib|runpy|ctypes)\b",
    ),
    ("windows-jupyter", ("jupyter",), r"\bjupyter(?:[- ](?:notebook|lab))?\.exe\b"),
    (
        "cpu-after-keras",
        ("eras",),
        r"(?i:\bafter installing keras\b[^.\n]{0,60}\b(?:only|nothing but|just)\b|\bafter installing keras\b[^.\n]{0,60}\bCPU only\b)|(?i:\b(?:once|after|when|since|as soon as)\b[^.\n]{0,30}\bkeras\b[^.\n]{0,20}\binstall\w{0,3}\b[^.\n]{0,60}\b(?:only|nothing but|just|sees?|finds?|uses?)\b[^.\n]{0,20}\bCPU\b)",
    ),
    ("slow-named", ("low", "hrottl"), r"(?i:\b(?<!not )(?<!will be much )slow(?:s|ed|er|ly)?\b|\bthrottl(?!e reasons))"),
    (
        "secure-boot-named",
        ("ecure", "ECURE"),
        r"(?i:\bsecure ?boot\b(?![^.]{0,30}\b(?:disabled|off|deactivated)\b))(?<!no secure boot)",
    ),
    ("selinux-named", ("SELinux", "selinux", "SElinux", "Selinux"), r"(?i:\bselinux\b)(?![^.]{0,20}(?i:disabled|permissive))"),
    (
        "label-named",
        ("label=", "container_use_devices", "nvidia_container_t"),
        r"label=(?:disable|type:)|container_use_devices|nvidia_container_t",
    ),
    ("mig-named", ("MIG", "mig", "MiG"), r"\b(?:MIG|mig|MiG)\b(?! M\.)"),
    (
        "one-of-them",
        ("ne gpu", "ne GPU", "nly ", "ust ", "ne device", "ne instance", "1 visible"),
        (r"(?i:\b(?:only|just) (?:one|1)\b(?! (?:with|that|which)\b)[^.]{0,20}(?:gpu|device|instance)|\bone (?:gpu|device|instance) only\b|\b(?:use|uses|see|sees|find|finds) just (?:1|one)\b|\bare 1 visible CUDA devices\b"
        r"|\bMIG DEV 0 only|\bonly (?:the )?(?:first )?(?:device|instance) (?:with ID|0\b))"),
    ),
    ("wsl-named", ("WSL", "wsl", "ubsystem"), r"(?i:\bwsl ?2\b)(?<![Nn]on-wsl2)|(?i:\b(?:linux|ubuntu|windows)(?: 1[01])? subsystem\b)|^(?![^\n]{0,40}\bWSL\b[^\n:]{0,30}: ?(?:not used|not applicable|n/?a|none|no|-)\W{0,3}$)(?![^\n]{0,120}(?:load dxcore|non-WSL|\b(?:without|w/o|no|not|avoid|besides|except|instead of) (?:using )?WSL))[^\n]{0,300}\bWSL(?: ?2|g)?\b"),
    ("directml-works", ("DirectML", "PluggableDevice"), r"DirectML: creating device|physical PluggableDevice \(device: \d+, name: \w"),
    (
        "frameworks-together",
        ("orch", "ORCH", "JAX", "jax", "upy", "uPy", "MXNet", "mxnet", "affe"),
        (r"(?i:^(?=[^\n]{0,400}\b(?:tensorflow|keras|tf)\b)(?=[^\n]{0,400}\b(?:pytorch|torch|jax|cupy|mxnet|caffe2?)\b)[^\n]{0,400}"
        r"\b(?:both|together|paired with|alongside|side by side|simultaneously|consecutively|in parallel|at the same time|(?:same|one|single) (?:\w+ )?(?:process|gpu|server|script|program|notebook|interpreter|kernel|session|worker)|(?:loaded|imported) before|runs? first|(?:notebook|script|program|process) first \w{3,12}s?\b[^\n]{0,200}\b(?:then|later|afterwards))\b)"),
    ),
    ("conda-brings-cuda", ("conda install", "mamba install"), r"(?<!Do `)(?:conda|mamba) install [^\n]{0,120}\b(?:cudatoolkit|cuda-toolkit|cuda-nvcc|cudnn)"),
    ("pip-brings-tensorflow", ("pip install", "pip3 install"), r"\bpip3? install (?:-\S{1,20} ){0,3}[\"']?tensorflow(?:-gpu)?(?:[=\[<>~ \"']|$)"),
    ("image-banner", ("CUDA Version",), r"^CUDA Version \d{1,2}\.\d\.\d$"),
    ("sudo-docker-run", ("sudo docker",), r"\bsudo docker (?:container )?run\b"),
    ("cgroups-changed", ("group",), r"(?i:\b(?:using|use|with|to|after|since|on|under|switch\w{0,5}|chang\w{0,3}) (?:\w+ ){0,3}cgroups?[ -]?v2\b)"),
    ("gpu-chosen", ("--gpu", "--device", "--cuda", "gpu_", "gpuid", "GPU_ID", "CUDA_ID", "gputouse", "device_id", "cuda:", " gpu to "), r"(?:^|\s)--(?:gpus?|gpu[_-]?(?:ids?|index|devices?|num)|device[_-]?id|cuda[_-]?(?:devices?|id))[= ](?P<value>\d{1,2})(?=\s|$)|(?i:\b(?:gpu[_-]?(?:ids?|index|no)|gputouse|cuda[_-]id|device_ids?)['\"]? ?(?:=|:|==) ?[\[\"']{0,2}(?P<value2>[1-9])(?![\d.])|--(?:gpus?|gpu[_-]?ids?)['\"],[^\n]{0,40}\bdefault ?= ?[\[\"']{0,2}(?P<value3>[1-9])\b|(?<!\], device=)['\"]cuda:(?P<value4>[1-9])['\"]|\b(?:set|setting|changing|change) (?:the )?gpu to (?P<value5>[1-9])\b)"),
    ("wsl-1-named", ("WSL", "wsl"), r"(?i:(?<!\[ \] )\bwsl[ -]?(?:v|ver(?:sion)? ?)?1\b(?!\.\d)(?! ?(?:/|\||or|and|&) ?(?:wsl[ -]?(?:v|version ?)?)?2))"),
    ("wsl-2", ("WSL", "wsl", "microsoft-standard"), r"(?i:\bwsl[ -]?(?:v|ver(?:sion)? ?)?2\b)|microsoft-standard"),
    (
        "ldconfig-cures",
        ("ldconfig",),
        (r"(?i:\b(?:call|run|execut|after|typ|do|enter|launch)\w{0,4}\b[^.\n]{0,30}\bldconfig\b[^.\n]{0,60}\b(?:works?|fix\w{0,2}|solve\w?|helps?|ok|fine|found|gone)\b"
        r"|\b(?:works?|fix\w{0,2}|solve\w?|helps?|found|gone|disappear\w*|goes away|vanish\w*)\b[^.\n]{0,30}\b(?:after|with|by|when|if|once|until)\b[^.\n]{0,30}\bldconfig\b|\b(?:until|unless) (?:I|we|you|one) (?:\w+ )?(?:run|call|execute|type|enter)\b[^.\n]{0,10}\bldconfig\b)"),
    ),
    (
        "several-machines",
        ("node", "achine", "omputer", "host", "erver", "SOCKET_IFNAME", "socket_ifname", "connection reset"),
        (r"(?i:\b(?:two|three|four|multiple|several|different|multi|many|both|across|more than one|2|3|4)[ -](?!on )(?:(?!gpu)\w{1,12} )?(?:nodes?|machines?|computers?|hosts?|servers?)\b"
        r"|^(?![^\n]{0,80}NCCL INFO)[^\n]{0,300}\bnccl_socket_ifname\b(?!=lo\b)|\bconnection reset by peer)"),
    ),
    (
        "one-machine",
        ("localhost", "ocally", "ingle", "one node", "tandalone"),
        r"(?i:\b-H localhost:\d|\bnodes? locally\b|(?<![/\w-])\bsingle[- ](?:node|machine|host)\b(?!-)|\bone node\b|--standalone\b)",
    ),
    ("nix-path", ("opengl-driver",), r"/run/opengl-driver"),
    ("nodes-by-hand", ("--device",), r"--device[= ]/dev/nvidia"),
    ("snap-named", ("snap", "Snap", "ubuntu", "Ubuntu", "app cent", "App Cent", "docker.service"), r"(?i:^snap version|^snapd? {2,}\d|\bdocker\b[^\n]{0,60}\bsnaps?\b|\bsnaps?\b[^\n]{0,60}\bdocker\b|\bdocker\b[^.\n]{0,60}\b(?:from|by|with|in|out of) (?:the )?(?:orange )?(?:shop app )?['\"\u201c]?(?:ubuntu software|app cent(?:er|re)|software cent(?:er|re))\b|\bdocker\b[^\n]{0,80}\bfeatured\b[^\n]{0,60}\binstaller\b|\binstaller\b[^\n]{0,60}\bfeatured\b[^\n]{0,60}\bdocker\b)"),
    (
        "laptop-mode",
        ("prime-select", "ntegrated", "intel", "rate", "Eco", "eco"),
        (r"prime-select intel\b|envycontrol -s integrated|(?i:\b(?:graphics|gpu) mode ?[:=] ?['\"]?(?:integrated|intel)\b)|optimus-manager --switch (?:intel|integrated)"
        r"|(?:system76-power graphics|supergfxctl -[mg]|envycontrol (?:-q|--query))\W{1,3}(?:(?:says?|is|gives|prints|shows) )?\W{0,2}[Ii]ntegrated|['\"`]?\bintel['\"`]? (?:profile|mode)\b|^[Ii]ntegrated$|(?i:switch\w{0,3} (?:\w+ ){0,3}(?:from|to) ['\"`]?(?:intel|integrated)\b|\bauf ['\"`\u201e\u201c]{0,2}integrated graphics\b[^.\n]{0,12}\bumgestellt\b|\barmou?ry crate\b[^.\n]{0,60}\beco\b|\beco[- ]?(?:gpu )?mode\b[^.\n]{0,60}\b(?:battery|armou?ry|ghelper|g-helper)\b)"),
    ),
    ("desktop-named", ("esktop",), r"(?i:docker[ -]desktop|desktop-linux)"),
    (
        "peer-patch",
        ("inygrad", "ikitoria", "atch"),
        r"(?i:\b(?:tinygrad|aikitoria)\b|\bp2p[- ]?patch\w{0,3}\b|\bpatched (?:\w{1,12} ){0,2}(?:driver|modules?|p2p)\b)",
    ),
    ("p2p-named", ("p2p", "P2P", "eer"), r"(?i:\bp2p|\bpeer[- ]to[- ]peer|simpleP2P|peer access)"),
    ("gpu-is-slow", ("low", "andwidth", "erform"), r"(?i:(?<!preset )(?<!will be much )(?<!n't that it gets )(?<!n't )(?<!not )\bslow(?:er|ly)?\b|\b(?:performance|bandwidth|busbw|speed)\b[^\n.]{0,30}\b(?:down\w*|degrad\w*|decreas\w*|drops?|los[ts]|low\w*|poor|worse)|\blos[te]s?\w*[^\n.]{0,30}\bperformance|\b(?:horribl[ey]|terribl[ey]|poor|awful|bad|worse) (?:\w+ ){0,2}(?:performance|speed)\b)"),
    ("driver-elsewhere", ("nvidia",), r"^(?!\s{0,8}#\s?root ?=)[^\n]{0,600}?(?:/opt/nvidia/lib64\b|/var/lib/nvidia(?:-docker/volumes|(?![\w-]))|/home/kubernetes/bin/nvidia|/run/nvidia/driver|/opt/nvidia-driver)"),
    (
        "card-was-changed",
        ("TX", "tx", "card", "Card", "GPU", "gpu", "060", "070", "080", "090", "K80", "K40", "M40", "P40", "P100"),
        (r"(?i:\b(?:no (?:problem|issue|trouble|error)s?(?: at all)?|(?<!\bnot )(?<!n't )(?<!never )(?<!cannot )(?:works?|worked|runs?|trains?|fine)) (?:on|with) (?:an? |my |the )?(?:geforce |tesla )?(?:gtx ?(?:9|10)[5-8]0|[KMP][48]0|P100)\b"
        r"|\b(?:on|with) (?:an? |my |the )?(?:geforce |tesla )?(?:gtx ?(?:9|10)[5-8]0|[KMP][48]0|P100)\b,? (?:(?:it|that|this|everything|all) )?(?:works?|worked|runs?|trains?|(?:is )?fine)\b"
        r"|\b(?:since|after|when|until|before|now that) (?:[\w']+ ){0,3}?(?:chang|switch|upgrad|replac|swap|bought|got|buying|getting|mov)\w{0,5} (?:(?:to|from|for|my|our|the|an?|it|new|newer|nvidia|geforce) ){0,4}?"
        r"(?:(?:graphics |video )?cards?|gpus?|[rg]tx ?-?\d{3,4}|titan (?:rtx|v)|[345]0[5-9]0)\b"
        r"|\b(?:new|newer) (?:graphics |video )?(?:card|gpu)\b[^.\n]{0,60}\b(?:[rg]tx ?-?\d{3,4}|titan (?:rtx|v)|[345]0[5-9]0)\b[^\n]{0,200}\b(?:old|previous|earlier)\b"
        r"|\b(?:works?|worked|ran|runs|fine|ok|perfect\w{0,2}|no (?:problem|issue)s?)\b (?:[\w']+ ){0,4}?(?:on|with) (?:[\w']+ ){0,3}?(?:older|old|previous|other|another) (?:graphics |video )?(?:cards?|gpus?|machines? with|computers? with|pcs? with|[rg]tx|geforce)\b)"),
    ),
    ("loss-is-nan", ("NaN", "nan", "NAN", "Nan", "nonsense", "garbage", "wrong"), r"(?i:\b(?:results?|predictions?|outputs?|boxes|masks|detections?|images?|numbers)\b[^.\n]{0,30}\b(?:nonsense|garbage|all wrong)\b|\b(?:nonsense|garbage|wrong) (?:results?|predictions?|outputs?|boxes|masks|detections?|images?|numbers)\b|(?<![a-z])loss(?:es)?\b[^.\n]{0,40}\bnan\b|\bnan\b[^.\n]{0,20}(?<![a-z])loss(?:es)?\b)"),
    ("laptop-tool", ("optirun", "umblebee", "primusrun"), r"\b(?:optirun|[Bb]umblebeed?|primusrun)\b"),
    (
        "root-works",
        ("root", "sudo", "superuser"),
        (r"(?i:(?:works?|worked|fine|detected|succeeds?) (?:\w+ ){0,4}(?:with|as|using|under|by) (?:the )?(?:sudo|root)\b)"
        r"|(?i:\b(?:only|once|after|until|unless) (?:[^\s.]+ ){0,8}(?:as|by|with|under|using) (?:the )?(?:root|sudo)\b)|(?i:(?<!not )\b(?:with|using|under) sudo\b[^.\n]{0,60}\b(?:works?|worked|runs?|ran|trains?|detects?|sees?)\b[^\n]{0,160}\b(?:without (?:sudo|it)|don't|doesn't|not)\b)|(?i:\b(?:unless|only(?: as)?) (?:superuser|root|sudo)\b)"),
    ),
    (
        "other-gpu-mentioned",
        ("RX", "rx", "ega", "adeon", "ADEON", "Instinct", "FirePro", "Arc", "Iris", "UHD", "uhd"),
        (r"\b(?P<amd>(?i:RX)[ -]?(?:4[678]0|5[4-9]0|[5-7][3-9][05]0|90[67]0)(?: ?(?i:XTX?|GRE)|[XMS])?\b|(?i:vega) ?(?:56|64|VII|II|[368]|10|11|20)\b"
        r"|(?i:radeon) (?:RX|rx|Pro|PRO|VII|R[579]|HD|Vega|VEGA|\d)|Instinct MI\d|FirePro)"
        r"|\b(?P<intel>Arc(?:\(TM\)|\u2122)? [AB]\d{3}|Iris(?:\(R\)|\u00ae)? (?:Xe|Plus|Pro)|(?i:intel(?:\(R\))? u?hd|uhd graphics))\b"),
    ),
    (
        "other-gpu-named", ("AMD", "ATI", "Radeon", "RADEON", "Intel"),
        (r"\b(?:with|on|for|support) (?:an? |my )?(?P<vendor5>AMD) GPUs?\b|(?i:\b(?:gpu|card|graphics|video)\b[^.\n]{0,60}?\b(?:mine|it|that|which|one)(?:'s| is| was)(?: just| only)?(?: an?| from| by)? )(?P<vendor7>AMD)\b(?! (?i:cpu|processor|ryzen|epyc))"
        r"|(?i:\b(?:have|has|got|own|use|using|is|only|with)(?: just| only)? (?:an? |my )?)(?P<vendor8>AMD) (?i:graphics ?cards?|graphics|video ?cards?|cards?|gpus?)\b|(?i:\b(?:GPU|card) (?:is|was) (?:made )?(?:by|from) )(?P<vendor9>AMD)\b|^(?P<vendor6>AMD) GPU\b|(?:\b(?i:the |my )(?:\w{1,12}'s |only )?|(?<![\w-] )\b|(?<=, ))(?:GPU|(?i:graphics(?: card)?|video card)) is (?:an? )?(?P<vendor4>Intel|AMD)\b|^[\W\d]{0,6}(?:(?i:GPU(?: model(?: and memory)?)?|graphics(?: card)?|video card)\W{1,6}(?:[\w.]+ ){0,2}?)?"
        r"(?P<vendor>AMD Radeon|AMD RX|AMD ATI|ATI|Radeon|RADEON|Mesa Intel|Intel HD|Intel UHD|Intel Iris|Intel ?\(R\) U?HD)\b"
        r"|\b(?P<vendor3>AMD) (?:Radeon|Raedon|RADEON|radeon|R[579] \d{3}X?|RX ?\d{3,4}|\d{3}X)\b|(?i:GPU model and memory|graphics card)\W{1,6}(?:APU )?(?P<vendor2>AMD|Intel)\b"),
    ),
)  # fmt: skip
_LOGGED = (
    "container-shell", "visible-set", "cuda-required", "libdevice-named", "wheel-libs-named", "gpu-memory-short-said",
    "cuda-compat-named", "path-shown", "cudnn-named", "others-are-seen", "tensorflow-of-the-user", "python-of-an-environment",
    "windows-jupyter", "wsl-named", "conda-brings-cuda", "wsl-2", "nix-path", "snap-named", "driver-elsewhere",
)  # fmt: skip
"""What TensorFlow's log can say, too; of the others it never speaks, nor NCCL's."""
LANGUAGES = tuple(
    Language("circumstances", words, (Kind(name, pattern, once=name != "visible-set"),), foreign=name not in _LOGGED)
    for name, words, pattern in _KINDS
)
