"""HTTPS: a certificate that is trusted works, any other one is no service; deadlines hold as without."""

import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest

import rankduel as rd
from client import servers
from client.servers import serving, well
from rankduel.client import Client

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, with its key in the same file."""
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem"), "-days", "2"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command = ["openssl", "req", "-x509", "-nodes", *curve, *subject, *made]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    both = folder / "both.pem"
    both.write_text((folder / "certificate.pem").read_text() + (folder / "key.pem").read_text())
    return both


@pytest.fixture
def context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_trusted_certificate(context: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(well, context) as server, Client(server.url, "search", deadline=5) as client:
        assert [client.ask().serve for _ in range(5)] == ["duel"] * 5
        client.tell("1-1", rd.Outcome.FIRST)
        assert client.flush()
        assert client.counters.accepted == 1
        assert server.connections <= 3  # they are kept


def test_another_certificate(context: ssl.SSLContext) -> None:
    with serving(well, context) as server, Client(server.url, "search", deadline=5, baseline="bm25") as client:
        assert client.ask().why == "unreachable"
        assert client.counters.failed == 1
        assert server.requests == []  # no key was shown to it
        with pytest.raises(rd.StorageError, match="certificate verify failed"):
            rd.Tournament.open("search", storage=server.url)


def test_deadlines_hold(context: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for behaves in (servers.hangs, servers.slow, servers.slow_header):
        with serving(behaves, context) as server, Client(server.url, "search", deadline=0.1) as client:
            began = time.perf_counter()
            assert client.ask().why == "deadline"
            assert time.perf_counter() - began < 0.1 + 0.25
