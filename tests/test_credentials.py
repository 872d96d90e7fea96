"""Ways in which secrets and names stand in what programs print: none of them is there afterwards; and what only looks like one."""

from __future__ import annotations

import pytest

from gpudoctor.redact import Identity, Redactor
from gpudoctor.secret_names import is_called_secret
from tests.factory import healthy, with_, with_variable

KEY = b"of the tests"
GITLAB, AWS = "glpat-" + "x" * 20, "AKIA" + "IOSFODNN7EXAMPLE"
"""Not written as one: who looks for keys in sources finds none here."""


def left(text: str) -> str:
    """A raw output when it leaves."""
    return Redactor(healthy(), Identity(), KEY, [text]).raw(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("--password letmein", "letmein"),
        ("kubeadm join 10.0.0.1:6443 --discovery-file x abcdef.0123456789abcdef", "0123456789abcdef"),
        ("bootstrap p8ix4e.a4q9om4894zjoj7y of the cluster", "a4q9om4894zjoj7y"),
        ("SCW" + "XWQTY91JW7ESURMMZ", "XWQTY91JW7"),
        ("mysql -u x -pletmein db", "letmein"),
        ("mysql -h db1 -p letmein", "letmein"),
        ("MYSQL_PWD=letmein mysqldump", "letmein"),
        ("password=letmein", "letmein"),
        ('db_password = "correct horse battery staple"', "horse battery"),
        ("train.py --password 'correct horse battery' -x", "horse battery"),
        ("curl --user admin:letmein http://x/", "letmein"),
        ("wget --http-password=letmein", "letmein"),
        ("ftp://user:p@ss:w0rd@ftphost.example.com/x", "w0rd"),
        ("https://x-access-token:abcDEF@github.com/o/r", "abcDEF"),
        ("jdbc:mysql://h:3306/db?user=annabel&password=blurb", "blurb"),
        ("Data Source=h;User Id=sa;Password=blurb;", "blurb"),
        ('{"auths": {"r.io": {"auth": "dXNlcjpwYXNzd29yZA=="}}}', "dXNlcjpwYXNzd29yZA"),
        ("password: letmein", "letmein"),
        ("  db_pass: letmein", "letmein"),
        ("Cookie: session=abcd1234efgh; csrftoken=QQww12", "abcd1234efgh"),
        ("Cookie: session=abcd1234efgh; csrftoken=QQww12", "QQww12"),
        ("X-Auth-Token: abcdefgh12", "abcdefgh12"),
        ("PRIVATE-TOKEN: abcdefgh", "abcdefgh"),
        ("Authorization: token abcdefgh12", "abcdefgh12"),
        ("sv=2020-01-01&sig=abc%2Fdef%3D&se=1", "abc%2Fdef"),
        ('"private_key": "-----BEGIN PRIVATE KEY-----\nMIIEabcDEF\n-----END PRIVATE KEY-----\n"', "MIIEabcDEF"),
        ('"private_key_id": "0123456789abcdef0123456789abcdef01234567"', "0123456789abcdef0123456789"),
        ("123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawq", "AAHdqTcv"),
        ("inet 10.20.30.40/24 brd 10.20.30.255", "10.20.30.40"),
        ("::ffff:10.20.30.40", "10.20.30.40"),
        ("2001:db8:12::9/64", "2001:db8:12::9"),
        ("FE80::ABCD:EF01", "FE80::ABCD"),
        ("0c42.a15e.77f3", "0c42.a15e"),
        ("SN: 16549220065", "16549220065"),
        ("S/N 16549220065", "16549220065"),
        ("Board Serial Number: 16549220065", "16549220065"),
        ("/export/home/bobolink/x", "bobolink"),
        ("C:\\Users\\bobolink\\x", "bobolink"),
        ("~bobolink/venv/lib", "bobolink"),
        ("/homes/bobolink/x", "bobolink"),
        ("gpu-node-17.prod.acme.net", "gpu-node-17"),
        ("gpu-node-17.prod.acme.ai", "acme"),
        ("gpunode.prod.acme.ai", "acme"),
        ("smb://corp;bobolink:blurb@fs1/share", "blurb"),
        ("rsync -e ssh x bobolink@fs1:/data", "bobolink"),
        (f"s3://{AWS}:wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY@bucket/x", "wJalrXUtn"),
        (f"git+https://oauth2:{GITLAB}@gitlab.acme.com/x.git", "glpat"),
        ("git+https://bobolink@gitlab.acme.com/x.git", "bobolink"),
        ("--extra-index-url https://__token__:blurb@gitlab.acme.com/api", "blurb"),
        ("NGC_CLI_API_KEY=bm9wZW5vcGU6bm9wZQ", "bm9wZW5vcGU6bm9wZQ"),
        ("--hf-token hf_shortone1", "hf_shortone1"),
        ("-e WANDB_API_KEY=abc123 -e X=1", "abc123"),
        ("--env AWS_SESSION_TOKEN=IQoJb3JpZ2luX2VjE", "IQoJb3JpZ2luX2VjE"),
        ("su - bobolink", "bobolink"),
        ("sudo -u bobolink python", "bobolink"),
        ("User=bobolink Group=x", "bobolink"),
        ("owner: bobolink", "bobolink"),
        ("login bobolink password blurb9", "blurb9"),
        ('passphrase: "open sesame now"', "sesame"),
        ('secret: "abc"', '"abc"'),
        ("Token: 4f9a-22bb", "4f9a-22bb"),
        ("ssh -i /x/key bobolink@10.9.8.7", "bobolink"),
        ("PGPASSFILE=/home/bobolink/.pgpass", "bobolink"),
        ("export SECRET='a b c1'", "a b c1"),
        ("connect(password='blurb')", "blurb"),
        ('connect(passwd="blurb", user="bobolink")', "bobolink"),
        ("kinit bobolink@ACME.COM", "bobolink"),
        ("kinit bobolink@ACME.COM", "ACME"),
        ("ldapsearch -D cn=admin,dc=x -w blurb", "blurb"),
        ("Bearer abcdefghij", "abcdefghij"),
        ("http://10.20.30.40:8080/x", "10.20.30.40"),
        ("rtsp://:blurb1@cam/x", "blurb1"),
        ("redis://default:blurb@r1:6379", "blurb"),
        ("postgresql+psycopg2://svc:blurb@db7.internal/x", "blurb"),
        ("postgresql+psycopg2://svc:blurb@db7.internal/x", "db7"),
        ("node=gpu77 job=3", "gpu77"),
        ("NodeName=dgx-a77 Arch=x", "dgx-a77"),
        ("Machine ID: 4f1c2a9e77aa4b2d9e105c1f0d3b8a21", "4f1c2a9e77aa"),
        ("Boot ID: 4f1c2a9e-77aa-4b2d-9e10-5c1f0d3b8a21", "4f1c2a9e"),
        ("pod4f1c2a9e_77aa_4b2d_9e10_5c1f0d3b8a21.slice", "4f1c2a9e"),
        ("docker-4f1c2a9e77aa4b2d9e105c1f0d3b8a214f1c2a9e77aa4b2d9e105c1f0d3b8a21.scope", "4f1c2a9e77aa"),
        ("bobolink%40acme.com", "bobolink"),
        ('"user": "bobolink"', "bobolink"),
        ("DB_PASSWORD=Bl;ub9Tail", "ub9Tail"),
        ("PASSWORD=Sommer,2024!", "2024!"),
        ("PASSWORD=pa$$w&rd9x", "rd9x"),
        ("PASSWORD=it's9secret", "s9secret"),
        ("password: blub;semi9rest", "semi9rest"),
        ("SSHPASS=Letmein77", "Letmein77"),
        ("MYSQLPASS=blubber", "blubber"),
        ("DBPWD=blubber", "blubber"),
        ("ROOTPW=blubber", "blubber"),
        ("userPass=blubber", "blubber"),
        ("--dbpass blubber", "blubber"),
        ("--storepass blubber", "blubber"),
        ("--dbpassword blubber", "blubber"),
        ("--mypass=blubber", "blubber"),
        ("machine gitlab.acme.com login bobolink password wordless", "wordless"),
        ("machine gitlab.acme.com login bobolink password wordless", "bobolink"),
        ("machine gitlab.acme.com\n  login bobolink\n  password wordless", "wordless"),
        ("machine gitlab.acme.com\n  login bobolink\n  password wordless", "bobolink"),
        (r"{\"password\":\"blubber\"}", "blubber"),
        ("['--password', 'blubber']", "blubber"),
        ('["mysql", "-pblubber1"]', "blubber1"),
        ("http://23.45.67.88/x", "23.45"),
        ("http://8.7.6.5:80/", "8.7.6.5"),
        ("inet 23.45.67.87/24", "23.45"),
        ("/mnt/23.45.67.85/x", "23.45"),
        ("nameserver 8.7.6.5", "8.7.6.5"),
        ("0: dgx-q9:1:2 [0] NCCL INFO x", "dgx-q9"),
        ("[1,0]<stdout>:dgx-q8:1:2 [0] NCCL INFO x", "dgx-q8"),
        ("(Worker pid=7) dgx-q7:1:2 [0] NCCL INFO x", "dgx-q7"),
        ("https://conda.acme.com/t/abCd12efGh/ch", "abCd12efGh"),
        ("NCCL_SOCKET_IFNAME=enx525400abcdea", "525400abcdea"),
        ("52:54:00:ab:cd:e8: up", "52:54"),
        ("ip:2001:db8::7a8", "2001:db8"),
        ("[1]ib0:fe80::ba59:9f03:1:2%ib0<0>", "ba59"),
        ("GPU PDI : 0x5b8f3e6a1c2d4e77", "5b8f3e6a"),
        ("node_guid 0x506b4b0300c2a1e1", "506b4b"),
        ("Device Serial Number 00-02-c9-03-00-1a-2b-3c", "1a-2b-3c"),
        ("smbclient -U zuser1%blubsmb", "blubsmb"),
        ("sqlplus u/zkpw@Z", "zkpw"),
        ("password := zkx9", "zkx9"),
        ("password => 'zkx9'", "zkx9"),
        ("<password>zkxx</password>", "zkxx"),
        ("&quot;password&quot;: &quot;zkxx&quot;", "zkxx"),
        ("access_token%3Dzkxx", "zkxx"),
        ("setenv PASSWORD zkxx", "zkxx"),
        ("grpc://znode77:8470", "znode77"),
        ("http://znode:8080/", "znode"),
        ("\\\\zfsrv1\\zshare", "zfsrv1"),
        ("//zfsrv2/zshare", "zfsrv2"),
        ("smb://zfsrv4/", "zfsrv4"),
        ("HOROVOD_HOSTS=zhvd1:4", "zhvd1"),
        ("--master_addr=zndj1", "zndj1"),
        ("--rdzv_endpoint=zndl1:29500", "zndl1"),
        ("mpirun -H zndh1:8", "zndh1"),
        ("NODELIST=znd[001-004]", "znd"),
        ("srun: error: znde7: task 0: Killed", "znde7"),
        ("Nov 22 01:02:03 zlog1 kernel: x", "zlog1"),
        ("zmaster.zork.local", "zmaster"),
        ("zsvc.zns.svc.cluster.local", "zsvc"),
        ("gpu.zork.edu.pl", "zork"),
        ("registry.zork.io/x", "zork"),
        ("/pscratch/z/zalice/x", "zalice"),
        ("/project/zalice/x", "zalice"),
        ("C:\\Documents and Settings\\zora\\x", "zora"),
        ("sudo: zora25 : TTY=", "zora25"),
        ("Accepted publickey for zora27 from", "zora27"),
        ("--username zuser1", "zuser1"),
        ("$1$abcdefgh$abcdefghijklmnopqrstuv", "abcdefghijkl"),
        ("name: DB_PASSWORD\nvalue: zkxx", "zkxx"),
    ],
)
def test_it_is_gone(text: str, secret: str) -> None:
    assert secret in text
    assert secret.lower() not in left(text).lower()
    before = "a line of another program\n"
    assert secret.lower() not in left(f"{before}{text}\n{before}").lower()


@pytest.mark.parametrize(
    "text",
    [
        "Invalid token: unexpected end of file",
        "wrong password: try again",
        "password required, token missing",
        "Bearer token expected",
        "Basic information about the GPU",
        "On a host: the driver is too old",
        "served on an H200 host: without a container",
        "functional_saver_pass.cc:1412] token=none secret=*** password=",
        "NVRM: gpuClearFbhubPoisonIntrForBug2924523_GA100: FBHUB Interrupt detected",
        "cuda120py311h5cbd639_200 nvmlDeviceGetNvLinkState kgspRpcGspEventPmuHalted",
        "manylinux_2_27_x86_64.manylinux_2_28_x86_64 cp312-cp312-linux_x86_64",
        "docker run -u 1000:1000 -p 8080:80 image",
        "ssh -p 2222 localhost",
        "PWD=/opt/app SSH_AUTH_SOCK=/run/agent",
        "VBIOS Version : 96.00.A5.00.1A  GSP Firmware Version : 580.159.04  Image Version : G520.0200.00.05",
        "Bus Id : 00000000:3B:00.0  Sub System Id : 0x16C110DE  PCI Bus 0x3B",
        "libcurand-12-4 10.3.5.147-1 amd64",
        "/usr/local/curand/10.3.7.77/lib",
        "\tlibcudnn.so.9 => /opt/site/nvidia/cudnn/lib/libcudnn.so.9 (0x00007f41566cb000)",
        "nvidia-cublas-cu12 12.9.1.4\nnvidia-cudnn-cu12 9.10.2.21\ntensorflow 2.21.0\n",
        "GPU0\t X \tNV18\tPHB\t0-63\t0\t\tN/A",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,task=python,pid=27009,uid=0",
        "user space address, host memory, node 0, serial port",
        "opencv-python 4.10.0.84\npsycopg2-binary 2.9.10.1\nxgboost   2.1.3.1\nml_metadata 1.16.0.1",
        "cuBLAS 12.4.5.8 cufft=11.2.1.3 curand 10.3.5.147",
        "BIOS 2.19.1.0",
        "/usr/lib/wsl/drivers/nv_dispi.inf_amd64_1a2b3c4d5e6f7a8b/libnvidia-ml.so.1",
        f"--hash=sha256:{'4f1c2a9e77aa4b2d' * 4} image@sha256:{'9e105c1f0d3b8a21' * 4}",
        "google-auth==2.36.0",
        "OptimizePass: 12ms bypass=yes",
        "https://storage.googleapis.com/x https://conda.anaconda.org/c registry.k8s.io/pause:3.9 https://us-central1-docker.pkg.dev",
        "docker://tensorflow/tensorflow:latest-gpu gs://bucket/x",
        "//tensorflow/core/kernels:x // comment",
        "node_guid 0x0000000000000000",
        "srun: error: Unable to allocate",
        "pip install --user numpy",
        "/project/src/x /projects/tensorflow/lib",
        "http://localhost:8080/",
        "threading.local self.x.local()",
        "/job:localhost/replica:0/task:0/device:GPU:0",
        "<token>:1",
        "/cvmfs/software.eessi.io/versions/2023.06/lib",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert left(text) == text


@pytest.mark.parametrize(
    ("name", "value"), [("TF_VAR_db_pass", "quokka"), ("TF_VAR_pin", "7788"), ("TF_DSN", "quokka")]
)
def test_a_variable_that_is_called_a_secret_is_one(name: str, value: str) -> None:
    """In a report of an older gpudoctor; a newer one does not keep it."""
    facts = with_variable(healthy(), name, value)
    redactor = Redactor(facts, Identity(), KEY)
    assert str(redactor.tree(facts).environment.get(name)).startswith("secret-")
    assert value not in redactor.raw(f"{name}={value}")
    assert is_called_secret(name)


def test_a_mac_in_the_name_of_an_interface_keeps_its_kind() -> None:
    facts = with_variable(healthy(), "NCCL_SOCKET_IFNAME", "enx525400abcdea")
    made = Redactor(facts, Identity(), KEY).tree(facts)
    assert str(made.environment.get("NCCL_SOCKET_IFNAME")).startswith("enxmac-")


def test_a_key_in_the_lines_of_a_log_is_gone() -> None:
    """Its last line is short."""
    lines = ("-----BEGIN PRIVATE KEY-----", "MIIEabcDEF", "abcdqq==", "-----END PRIVATE KEY-----", "Killed")
    facts = with_(healthy(), tensorflow__log=lines)
    made = Redactor(facts, Identity(), KEY).tree(facts).tensorflow.log
    assert made[1] != lines[1]
    assert made[2] != lines[2]
    assert made[3:] == lines[3:]


def test_the_same_has_the_same_token_in_every_text() -> None:
    texts = ["Serial Number : 1654922006599\n", "at 1654922006599 again"]
    redactor = Redactor(healthy(), Identity(), KEY, texts)
    first, second = map(redactor.raw, texts)
    assert first.split()[-1] == second.split()[1]
    assert [(one.kind, one.count, meant) for one, meant in redactor.stood_for()] == [("serial", 2, "1654922006599")]


def test_what_a_variable_calls_a_secret_is_one_everywhere() -> None:
    from gpudoctor.credentials import of_variables

    variables = {
        "DB_PASSWORD": "plain7word",
        "API_TOKEN": "none",
        "SSH_AUTH_SOCK": "/run/a7",
        "X": "redis://:Blur8b@h/",
        "KEY": "12",
    }
    assert set(of_variables(variables)) == {"plain7word", "Blur8b", ":Blur8b"}
    assert "plain7word" not in Redactor(healthy(), Identity(secrets=("plain7word",)), KEY).raw("it said plain7word.")
