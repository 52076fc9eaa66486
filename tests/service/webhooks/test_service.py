"""Webhooks of a real service: killed, with a dead receiver, and with several processes on PostgreSQL."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from cli.processes import COMMAND, run
from postgres.server import Server
from rankduel.live.storage.postgres_leader import _lock_number
from service.servers import Client, at
from service.webhooks.receiver import Receiver, receiving, until

pytestmark = pytest.mark.slow


def config(folder: Path, url: str, storage: str | None = None, **hook: object) -> Path:
    """A settings file with one webhook."""
    path = folder / "rankduel.toml"
    settings = {"name": "ops", "url": url, "secret_env": "HOOK_SECRET"} | hook
    lines = [f"storage = {json.dumps(storage or f'sqlite:///{folder}/duels.db')}", "[service]", "port = 0"]
    lines += ["[[webhooks]]", *(f"{name} = {json.dumps(value)}" for name, value in settings.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


class Service:
    """`rankduel serve` in a process of its own."""

    def __init__(self, settings: Path) -> None:
        command = [*COMMAND, "serve", "--create", "--config", str(settings)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=settings.parent)
        self.log: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        until(lambda: bool(self.logged("listening")) or not self._reader.is_alive(), 60)
        self.client = Client(self.logged("listening")[0]["port"])

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(json.loads(line) if line.startswith("{") else {"message": line})

    def logged(self, message: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["message"] == message]

    def create(self, name: str) -> None:
        made = self.client.post("/v1/tournaments", {"name": name, "rankers": ["a", "b"], "baseline": "a", "seed": 1})
        assert made.status == 201

    def do(self, name: str, verb: str) -> None:
        assert self.client.post(at(name, f":{verb}"), {"reason": "a test"}).status == 200

    def decide(self, name: str) -> int:
        """Let `a` win all duels until it has won the tournament. Return the number of outcomes."""
        for number in range(1, 500):
            duel = self.client.post(at(name, "/ask"), {}).body
            told = {"duel": duel["duel"], "outcome": "first" if duel["first"] == "a" else "second"}
            assert self.client.post(at(name, "/tell"), told).body["status"] == "accepted"
            if self.client.get(at(name)).body["winner"] is not None:
                return number
        raise AssertionError("no decision")

    def status(self) -> dict[str, Any]:
        (status,) = self.client.get("/v1/webhooks").body["webhooks"]
        return dict(status)

    def end(self, *, kill: bool = False) -> int:
        """End it, and return its exit code."""
        self.client.close()
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        code = self.process.wait(60)
        self._reader.join(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@contextmanager
def serving(settings: Path) -> Iterator[Service]:
    service = Service(settings)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.end(kill=True)


def test_killed_while_it_delivers(receiver: Receiver, tmp_path: Path) -> None:
    """The first process dies while the receiver holds the request, the second one before it sends anything."""
    settings = config(tmp_path, receiver.url)
    held = receiver.hold_next()
    with serving(settings) as service:
        service.create("home")
        outcomes = service.decide("home")
        assert held.wait(30)
        service.do("home", "stop")
        assert service.end(kill=True) == -9
    receiver.close()  # the second process finds nobody
    with serving(settings) as service:
        until(lambda: bool(service.logged("a webhook message was not accepted")))
        failure = service.logged("a webhook message was not accepted")[0]
        assert (failure["kind"], failure["event"], failure["error"]) == ("decided", outcomes + 1, "Connection refused")
        assert service.end(kill=True) == -9
    with receiving() as again:
        config(tmp_path, again.url)  # the address of a webhook may change
        with serving(settings) as service:
            again.wait(2)
            assert service.end() == 0
        with serving(settings):
            time.sleep(2.5)  # nothing is sent again
        assert again.kinds == ["decided", "stopped"]
        assert [body["data"]["event"] for body in again.accepted] == [outcomes + 1, outcomes + 2]
        assert again.accepted[0]["data"]["winner"] == "a"
        assert all(request.signed for request in again.requests)
        assert again.requests[0].id == receiver.requests[0].id
        assert again.requests[0].raw == receiver.requests[0].raw


def test_a_dead_receiver_delays_nothing(receiver: Receiver, tmp_path: Path) -> None:
    receiver.answer = lambda _: time.sleep(60)
    with serving(config(tmp_path, receiver.url)) as service:
        service.create("home")
        service.do("home", "pause")
        receiver.wait(1)
        service.do("home", "start")
        began = time.monotonic()
        service.decide("home")
        assert service.client.get("/readyz").raw == b"ok\n"
        assert time.monotonic() - began < 9  # a request to the receiver takes 10 s
        began = time.monotonic()
        assert service.end() == 0
        assert time.monotonic() - began < 5
        assert len(receiver.requests) == 1
        assert [line["message"] for line in service.log if line.get("level") != "info"] == []


def test_what_an_operator_sees(receiver: Receiver, tmp_path: Path) -> None:
    settings = config(tmp_path, receiver.url, kinds=["paused", "health"])
    with serving(settings) as service:
        (line,) = service.logged("webhook")
        shown = {name: line[name] for name in ("webhook", "host", "format", "kinds", "tournaments")}
        assert shown == {
            "webhook": "ops",
            "host": "127.0.0.1",
            "format": "json",
            "kinds": ["paused", "health"],
            "tournaments": "all",
        }
        service.create("home")
        receiver.statuses = [500]
        service.do("home", "pause")
        until(lambda: service.status()["failed"] == 1)
        assert service.status() | {"problem": None} == {
            "name": "ops",
            "delivered": 0,
            "failed": 1,
            "given_up": 0,
            "pending": 1,
            "problem": None,
        }
        assert service.status()["problem"] == "status 500"
        assert service.client.get("/readyz").raw == b"degraded: 1 webhooks fail\n"
        assert scraped(service)["rankduel_webhook_failures_total", ""] == 1
        until(lambda: service.status()["delivered"] == 1)
        assert (service.status()["pending"], service.status()["problem"]) == (0, None)
        assert service.client.get("/readyz").raw == b"ok\n"
        receiver.wait(3, 60)  # half a minute later, the light is reported as yellow
        assert receiver.kinds == ["paused", "health"]
        until(lambda: scraped(service)["rankduel_webhook_messages_total", "delivered"] == 2)
        assert scraped(service)["rankduel_webhook_messages_total", "given_up"] == 0
        assert scraped(service)["rankduel_webhook_pending", ""] == 0
        assert receiver.accepted[1]["data"]["health"] == "yellow"
        assert not [line for line in service.log if receiver.url in str(line)]


def scraped(service: Service) -> dict[tuple[str, str], float]:
    """The metrics of the webhook by name and result."""
    families = text_string_to_metric_families(service.client.get("/metrics").raw.decode())
    samples = [sample for family in families for sample in family.samples if sample.labels.get("webhook") == "ops"]
    return {(sample.name, sample.labels.get("result", "")): sample.value for sample in samples}


def test_the_secret_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    settings = config(tmp_path, "https://ops.example/secret")
    ran = run("serve", "--create", "--config", str(settings), cwd=tmp_path)
    assert ran.returncode == 2
    assert "the environment variable HOOK_SECRET of the webhook 'ops' is not set" in ran.stderr
    assert not (tmp_path / "duels.db").exists()


def test_the_commands(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("webhooks", "secret", cwd=tmp_path).stdout.strip()
    monkeypatch.setenv("HOOK_SECRET", made)
    assert run("init", cwd=tmp_path).returncode == 0
    none = run("webhooks", "test", cwd=tmp_path)
    assert (none.returncode, "no webhooks configured; add [[webhooks]] to rankduel.toml" in none.stderr) == (2, True)
    with (tmp_path / "rankduel.toml").open("a") as file:
        file.write(f'[[webhooks]]\nname = "ops"\nurl = "{receiver.url}"\nsecret_env = "HOOK_SECRET"\n')
        file.write('[[webhooks]]\nname = "relay"\nurl = "http://10.0.0.5/x"\nformat = "slack"\nallow_http = true\n')
    doctor = run("doctor", cwd=tmp_path).stdout
    sends = "sends decided, guardrail, paused, started, stopped, rolled_out, rolled_back, archived, health to"
    assert f"ok       webhooks: ops {sends} 127.0.0.1, signed. To try it, run rankduel webhooks test\n" in doctor
    assert f"warning  webhooks: relay {sends} 10.0.0.5, not signed, without TLS: others on the network" in doctor
    tried = run("webhooks", "test", "--name", "ops", cwd=tmp_path)
    assert (tried.returncode, tried.stdout.startswith("ops: accepted (127.0.0.1, ")) == (0, True)
    assert receiver.accepted[0]["type"] == "tournament.test"
    assert "webhook-signature" in receiver.requests[0].headers
    receiver.statuses = [404]
    refused = run("webhooks", "test", "--name", "ops", cwd=tmp_path)
    assert (refused.returncode, refused.stdout.startswith("ops: status 404 (")) == (1, True)
    unknown = run("webhooks", "test", "--name", "op", cwd=tmp_path)
    assert "unknown webhook 'op' in --name; known webhooks: ops, relay" in unknown.stderr
    monkeypatch.delenv("HOOK_SECRET")
    assert "error    webhooks: the environment variable HOOK_SECRET" in run("doctor", cwd=tmp_path).stdout
    without = run("webhooks", "test", cwd=tmp_path)
    assert (without.returncode, "HOOK_SECRET of the webhook 'ops' is not set" in without.stderr) == (2, True)


def test_two_processes_on_postgresql(postgres: Server, receiver: Receiver, tmp_path: Path) -> None:
    """One delivers. When it is killed, the other one takes over, also in the middle of a request."""
    url = postgres.empty()
    settings = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        settings.append(config(tmp_path / name, receiver.url, f"{url}?application_name={name}"))
    with serving(settings[0]) as first:
        first.create("home")
        until(lambda: deliverer(postgres, url) == "first")
        with serving(settings[1]) as second:
            first.do("home", "pause")
            until(lambda: second.client.get(at("home")).body["status"] == "paused")
            second.do("home", "start")
            receiver.wait(2)
            time.sleep(2.5)
            assert receiver.kinds == ["paused", "started"]
            held = receiver.hold_next()
            second.do("home", "pause")
            assert held.wait(30)
            assert first.end(kill=True) == -9
            receiver.wait(4)
            third, fourth = receiver.requests[2:]
            assert third.id == fourth.id
            assert deliverer(postgres, url) == "second"
            second.do("home", "start")
            receiver.wait(5)
            assert [request.body["type"] for request in receiver.requests[3:]] == [
                "tournament.paused",
                "tournament.started",
            ]
            assert len({request.id for request in receiver.requests}) == 4
            assert second.status()["delivered"] == 2


def deliverer(postgres: Server, url: str) -> str | None:
    """The application that holds the lock of the webhook."""
    key = _lock_number("\nwebhook ops") % 2**64
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) "
            "WHERE locktype = 'advisory' AND granted AND classid = %s::bigint::oid AND objid = %s::bigint::oid",
            (key >> 32, key & 0xFFFFFFFF),
        ).fetchall()
    return found[0][0] if found else None
