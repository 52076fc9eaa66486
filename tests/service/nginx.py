"""A real nginx in front of a server, with the very configuration that docs/operations.md shows."""

import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fences import ROOT, only

PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
_AROUND = """\
{user}
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{documented}
}}
"""


class Nginx:
    """It listens on a free port, with a certificate that nobody has signed."""

    def __init__(self, server_port: int, folder: Path) -> None:
        self.folder, self._server_port = folder, server_port
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        names = ["-subj", "/CN=duels.example", "-addext", "subjectAltName=DNS:duels.example,IP:127.0.0.1"]
        files = ["-keyout", str(folder / "duels.key"), "-out", str(folder / "duels.pem"), "-days", "2"]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        command = ["openssl", "req", "-x509", "-nodes", *curve, *names, *files]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        self.start()

    def start(self, more: str = "") -> None:
        """Start it with the documented configuration, with `more` in its location."""
        self._configure(more)
        assert PROGRAM is not None
        options = ["-p", str(self.folder), "-e", str(self.folder / "error.log"), "-c", str(self.folder / "nginx.conf")]
        self.process = subprocess.Popen([PROGRAM, *options])
        self._wait()

    def stop(self) -> None:
        """Stop it. Open connections end."""
        self.process.terminate()
        self.process.wait(30)

    def _configure(self, more: str) -> None:
        changes = {
            "server 127.0.0.1:8080;": f"server 127.0.0.1:{self._server_port};",
            "listen 443 ssl;": f"listen 127.0.0.1:{self.port} ssl;",
            "/etc/ssl/": f"{self.folder}/",
            "proxy_pass http://rankduel;": f"proxy_pass http://rankduel; {more}",
        }
        documented = only(ROOT / "docs" / "operations.md", "nginx").text
        for old, new in changes.items():
            assert old in documented
            documented = documented.replace(old, new)
        user = "user root;" if os.getuid() == 0 else ""
        text = _AROUND.format(user=user, folder=self.folder, documented=documented)
        (self.folder / "nginx.conf").write_text(text)

    def context(self) -> ssl.SSLContext:
        """What trusts the certificate."""
        return ssl.create_default_context(cafile=self.folder / "duels.pem")

    def _wait(self) -> None:
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise AssertionError((self.folder / "error.log").read_text())


@contextmanager
def proxied(server_port: int) -> Iterator[Nginx]:
    """An nginx, or skip the test and say why."""
    if PROGRAM is None or shutil.which("openssl") is None:
        pytest.skip("no nginx, or no openssl to make a certificate: apt-get install nginx openssl")
    folder = Path(tempfile.mkdtemp(prefix="rankduel-nginx-"))
    try:
        nginx = Nginx(server_port, folder)
        try:
            yield nginx
        finally:
            nginx.stop()
    finally:
        shutil.rmtree(folder)
