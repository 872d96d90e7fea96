"""Secrets and names that nobody has: made by a seed, each with the ways in which it may stand in a text."""

from __future__ import annotations

import base64
import ipaddress
import json
import random
import string
import uuid
from collections.abc import Iterator
from typing import NamedTuple

LETTERS, DIGITS, HEX = string.ascii_letters, string.digits, "0123456789abcdef"
WORD = LETTERS + DIGITS


class Planted(NamedTuple):
    """Something that may not leave."""

    kind: str
    secret: str
    text: str
    """How it stands there."""


class Garden:
    """Makes them, one after the other, from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def word(self, length: int, of: str = WORD) -> str:
        return "".join(self.chance.choice(of) for _ in range(length))

    def name(self) -> str:
        """Of a person or a machine: letters that can be spoken."""
        syllables = [f"{self.chance.choice('bdfgklmnprstvz')}{self.chance.choice('aeiou')}" for _ in range(4)]
        return "".join(syllables)

    def password(self) -> str:
        """As people make them: some letters, some digits, a sign now and then."""
        sign = self.chance.choice(["", "!", "$", "#", "%", "-", "_", "*"])
        return f"{self.name()[: self.chance.randint(5, 8)]}{self.word(self.chance.randint(2, 4), DIGITS)}{sign}{self.word(3, LETTERS)}"

    def tokens(self) -> Iterator[tuple[str, str]]:
        """Kind and token, by the published forms of two dozen kinds, and keys without a form."""
        w = self.word

        def h(n: int) -> str:
            return w(n, HEX)

        upper = string.ascii_uppercase + DIGITS
        yield "aws id", self.chance.choice(["AKIA", "ASIA"]) + w(16, upper)
        yield "aws secret", w(40, WORD + "+/")
        yield "google", "AIza" + w(35, WORD + "-_")
        yield "google oauth", "ya29." + w(60, WORD + "-_")
        yield "github", self.chance.choice(["ghp_", "gho_", "ghs_"]) + w(36)
        yield "github fine", f"github_pat_{w(22)}_{w(59)}"
        yield "gitlab", "glpat-" + w(20, WORD + "-_")
        yield "slack", f"xoxb-{w(12, DIGITS)}-{w(12, DIGITS)}-{w(24)}"
        yield "hugging face", "hf_" + w(34, LETTERS)
        yield "openai", "sk-proj-" + w(48, WORD + "-_")
        yield "anthropic", "sk-ant-api03-" + w(93, WORD + "-_") + "AA"
        yield "ngc", "nvapi-" + w(64, WORD + "-_")
        yield "wandb", h(40)
        yield "pypi", "pypi-AgEIcHlwaS5vcmc" + w(80, WORD + "-_")
        yield "npm", "npm_" + w(36)
        yield "docker", "dckr_pat_" + w(27, WORD + "-_")
        yield "stripe", "sk_live_" + w(24)
        yield "sendgrid", f"SG.{w(22)}.{w(43)}"
        yield "databricks", "dapi" + h(32)
        yield "vault", "hvs." + w(90, WORD + "-_")
        yield "azure key", w(86, WORD + "+/") + "=="
        yield "base62", w(self.chance.randint(24, 48))
        claims = [base64.urlsafe_b64encode(json.dumps({k: w(9)}).encode()).decode().rstrip("=") for k in ("alg", "sub")]
        yield "jwt", ".".join([*claims, w(43, WORD + "-_")])

    def passwords(self) -> Iterator[Planted]:
        """Passwords, each where one stands."""
        for form in (
            "mysql -u root --password {}", "psql --password={} -h localhost", "mysqldump -p{} db", "sshpass -p {} ssh node",
            "python train.py --api-key {} --epochs 3", "python train.py --db-pass '{}'", "worker --auth-token={}",
            "PGPASSWORD={} psql -l", "export DB_PASSWORD={}", 'curl -H "Authorization: Bearer {}" http://localhost/',
            "curl -u deploy:{} http://localhost/x", "https://deploy:{}@localhost/simple", "postgres://svc:{}@127.0.0.1:5432/db",
            "mongodb+srv://svc:{}@localhost/x", "redis://:{}@localhost:6379/0", "amqp://svc:{}@localhost//", 'password: "{}"',
            "Server=tcp:localhost;User ID=sa;Password={};Encrypt=True", "AccountName=x;AccountKey={};Suffix=y",
            '{{"client_secret": "{}"}}', "client_secret = {}", "token={}&x=1", "X-Api-Key: {}", "secret_access_key={}",
            "machine localhost login me password {}", "redis-cli -a {} ping", "docker login -u me -p {} localhost",
        ):  # fmt: skip
            secret = self.password()
            yield Planted("password", secret, form.format(secret))
        user, secret = self.name(), self.password()
        basic = base64.b64encode(f"{user}:{secret}".encode()).decode()
        yield Planted("basic", basic, f"Authorization: Basic {basic}")
        yield Planted("basic", basic, f"git -c http.extraheader='AUTHORIZATION: basic {basic}' fetch")
        body = "\n".join(self.word(64, WORD + "+/") for _ in range(3))
        kind = self.chance.choice(["RSA ", "EC ", "OPENSSH ", ""])
        key = f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"
        for line in body.splitlines():
            yield Planted("private key", line, key)

    def names(self) -> Iterator[Planted]:
        """People, machines, networks, devices."""
        user, host, zone = self.name(), f"{self.name()}-{self.chance.randint(1, 99)}", self.name()
        for form in ("/home/{}/lib", "/home/{}/.cache/x:/usr/lib", "/Users/{}/x", "/scratch/{}/env", "{}@localhost", "uid=1007({})", "user={} pid=3"):  # fmt: skip
            yield Planted("user", user, form.format(user))
        yield Planted("mail", f"{user}@{zone}.com", f"mail {user}@{zone}.com now")
        yield Planted("mail", f"{user}.x+y@{zone}.co.uk", f"<{user}.x+y@{zone}.co.uk>")
        for form in (
            "{}.{}.internal",
            "{}.lab.{}.com",
            "ssh://{}.{}.org/x",
            "{}.eu.{}.io:8443",
            "{}.{}.corp",
            "{}.{}.lan",
        ):
            yield Planted("host", host, form.format(host, zone))
            yield Planted("zone", f".{zone}.", form.format(host, zone))
        yield Planted("host", host, f"{host}:412:433 [0] NCCL INFO Bootstrap")
        yield Planted("host", host, f"hostname={host}")
        for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "130.0.0.0/8", "203.0.113.0/24"):
            whole = ipaddress.ip_network(network)
            address = str(
                whole[
                    self.chance.randrange(300, whole.num_addresses - 1)
                    if whole.prefixlen < 24
                    else self.chance.randrange(1, 255)
                ]
            )
            yield Planted("ipv4", address, self.chance.choice(["at {} now", "eth0:{}<0>", "{}:2222", "/mnt/{}/x", "tcp://{}:99", "host-{}"]).format(address))  # fmt: skip
        six = str(ipaddress.IPv6Address(self.chance.getrandbits(120) | (0xFD << 120)))
        yield Planted("ipv6", six, self.chance.choice(["[{}]:22", "addr {} up", "{}%eth0"]).format(six))
        mac = ":".join(self.word(2, HEX) for _ in range(6))
        yield Planted("mac", mac, f"link/ether {mac} brd")
        yield Planted("mac", mac.replace(":", "-").upper(), mac.replace(":", "-").upper())
        one = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        yield Planted("uuid", one, self.chance.choice(["GPU-{}", "UUID {}", "/kubepods/pod{}/x", "MIG-{}"]).format(one))
        serial = self.word(13, DIGITS)
        yield Planted("serial", serial, f"Serial Number : {serial}")

    def everything(self) -> list[Planted]:
        tokens = [
            Planted(kind, one, self.chance.choice(["{}", "key {} here", "'{}'", "x={}", "({})"]).format(one))
            for kind, one in self.tokens()
        ]
        return [*tokens, *self.passwords(), *self.names()]
