"""The commands around the service, on a real storage and next to a real service."""

import csv
import io
import json
import sqlite3
import time
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from cli.processes import run
from client.service import running
from rankduel.cli import main
from rankduel.cli.shared.config import SETTING_HELP, Config, default_config_text, read_config
from rankduel.live import storage_at
from rankduel.live.admin.import_export import read_parquet
from rankduel.service import ServiceSettings

CREATE = ("tournaments", "create", "home", "--ranker", "bm25", "--ranker", "=ltr", "--seed", "1", "--baseline", "bm25")
PAUSED = "home: paused\nAll users see the baseline `bm25`.\n"


def command(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Run a command: its exit code, stdout and stderr. In this process, except `serve`, which needs an event loop."""
    if arguments[0] == "serve":
        ran = run(*arguments, cwd=cwd)
        return ran.returncode, ran.stdout, ran.stderr
    out, err = io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def ok(*arguments: str, cwd: Path) -> str:
    """Run a command that works: its stdout."""
    code, out, err = command(*arguments, cwd=cwd)
    assert code == 0, err
    return out


def wrong(*arguments: str, cwd: Path) -> str:
    """Run a command that does not: its one line of error."""
    code, out, err = command(*arguments, cwd=cwd)
    assert (code, out) == (2, "")
    assert err.startswith("rankduel")
    assert err.count("\n") == 1, err
    return err


def play(storage: str, duels: int) -> None:
    with rd.Tournament.open("home", storage=storage) as t:
        asked = t.ask_many([(f"q-{number}", None) for number in range(duels + 5)])
        t.tell_many([(duel, rd.Outcome.FIRST) for duel in asked[:duels]])
        for _ in range(1000):  # until those that nobody has told are on the disk, too
            if t.counts.issued == duels + 5:
                break
            time.sleep(0.01)


@pytest.mark.slow
def test_from_nothing_to_a_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("init", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    assert key.startswith("rd_")
    assert key not in made.stderr
    assert key.rpartition("_")[2].encode() not in (tmp_path / "duels.db").read_bytes()
    for name in ("rankduel.toml", "duels.db"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert read_config(tmp_path / "rankduel.toml") == Config("sqlite:///duels.db", ServiceSettings())
    assert "rankduel.toml already exists; choose another file with --config" in wrong("init", cwd=tmp_path)
    assert "home: 2 rankers" in ok(*CREATE, cwd=tmp_path)
    assert "error" not in ok("doctor", cwd=tmp_path)
    with running(f"sqlite:///{tmp_path}/duels.db") as service:
        # Only the service can change it now; to look at it, its storage is enough.
        assert "is in use by process" in wrong("tournaments", "pause", "home", cwd=tmp_path)
        assert "is in use by process" in wrong("storage", "upgrade", cwd=tmp_path)
        assert json.loads(ok("tournaments", "list", "--json", cwd=tmp_path))[0]["status"] == "running"
        at = ("--storage", service)
        told = wrong("tournaments", "list", *at, cwd=tmp_path)
        assert f"{service} rejected the request: set the environment variable RANKDUEL_KEY to an API key" in told
        monkeypatch.setenv("RANKDUEL_KEY", "rd_wrong_key")
        told = wrong("tournaments", "list", *at, cwd=tmp_path)
        assert "the API key in RANKDUEL_KEY does not exist" in told
        monkeypatch.setenv("RANKDUEL_KEY", ok("keys", "create", "shop", "--scope", "ask", cwd=tmp_path).strip())
        time.sleep(1.5)  # until the service has read it
        told = wrong("tournaments", "list", *at, cwd=tmp_path)
        assert "needs an API key with the scope read in RANKDUEL_KEY" in told
        monkeypatch.setenv("RANKDUEL_KEY", key)
        assert "home" in ok("tournaments", "list", *at, cwd=tmp_path)
        assert ok("tournaments", "pause", "home", "--reason", "lunch", *at, cwd=tmp_path) == PAUSED
        assert ok("tournaments", "start", "home", *at, cwd=tmp_path).startswith("home: running\n")
        play(service, 30)
        here, there = (ok("tournaments", "show", "home", "--json", *where, cwd=tmp_path) for where in ((), at))
        assert json.loads(here) == json.loads(there)
        assert json.loads(here)["counts"]["resolved"] == 30
        for what in ("journal", "duels", "battles", "leaderboard"):
            exports = [ok("tournaments", "export", "home", "--what", what, *where, cwd=tmp_path) for where in ((), at)]
            assert without_secrets(exports[0]) == without_secrets(exports[1])
        assert "answered in" in ok("doctor", *at, cwd=tmp_path)
        assert ok("tournaments", "stop", "home", *at, cwd=tmp_path).startswith("home: stopped\n")
        assert key not in ok("keys", "list", cwd=tmp_path)
        assert ok("storage", "verify", cwd=tmp_path).count("ok ") == 4
        ok("storage", "backup", "copy.db", cwd=tmp_path)
    assert ok("storage", "verify", "--storage", "sqlite:///copy.db", cwd=tmp_path).count("ok ") == 4
    journal = [json.loads(line) for line in ok("tournaments", "export", "home", cwd=tmp_path).splitlines()]
    paused = [event["body"] for event in journal if event["kind"] == "paused"]
    assert paused == [{"reason": "lunch", "by": "admin"}]


def without_secrets(lines: str) -> list[dict[str, Any]]:
    """Seed and salt stay with the service."""
    events = [json.loads(line) for line in lines.splitlines()]
    for event in events:
        for secret in ("seed", "salt"):
            event.get("body", {}).pop(secret, None)
    return events


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a storage that has a bit of everything."""
    ok("init", cwd=tmp_path)
    ok(*CREATE, "--share", "1", "--expires-after", "1e6", cwd=tmp_path)
    play(f"sqlite:///{tmp_path}/duels.db", 40)
    return tmp_path


def test_operate(folder: Path) -> None:
    assert ok("tournaments", "pause", "home", "--reason", "rest", cwd=folder) == PAUSED
    again = "tournament 'home' is paused; this is possible only while running or decided or rolled out"
    assert again in wrong("tournaments", "pause", "home", cwd=folder)
    assert "unknown tournament 'away' in" in wrong("tournaments", "show", "away", cwd=folder)
    assert "unknown tournament 'away' in" in wrong("tournaments", "stop", "away", cwd=folder)
    assert ok(*CREATE, "--exist-ok", "--expires-after", "1e6", cwd=folder) != ""
    assert f"tournament 'home' already exists in sqlite:///{folder}/duels.db; open it" in wrong(*CREATE, cwd=folder)
    assert "tournament 'home' already exists with --expires-after 1000000.0, not 86400.0" in wrong(
        *CREATE, "--exist-ok", cwd=folder
    )
    with rd.Tournament.open("home", storage=f"sqlite:///{folder}/duels.db") as t:
        (paused,) = [event.body for event in t.journal() if event.kind == "paused"]
        assert paused["reason"] == "rest"
        assert paused["by"]


def test_the_life_of_a_tournament(folder: Path) -> None:
    """Every action of the command line, with what users see after each, and what the journal says."""

    def act(action: str, *options: str) -> str:
        return ok("tournaments", action, "shop", *options, cwd=folder)

    rankers = ("--ranker", "bm25", "--ranker", "ltr")
    assert act("create", *rankers, "--draft").endswith("\nAll users see the baseline `bm25`.\n")
    act("configure", "--share", "0.25", "--shadow", "--guardrail", "error=0.02,window=600", "--daily-cap", "3")
    assert "because the tournament is a dry run" in act("start", "--reason", "go")
    act("add-rankers", "neural", "neural-2")
    act("pause-ranker", "neural")
    act("start-ranker", "neural")
    for ranker in ("neural", "neural-2", "bm25"):
        act("retire", ranker)
    configured = act(
        "configure", "--no-shadow", "--no-guardrails", "--daily-cap", "none", "--attribution", '{"window": 60}'
    )
    sight = "25 % of users see the winner `ltr`, and all others see the baseline `bm25`."
    assert configured == f"shop: decided\n{sight}\n"
    out = act("roll-out", "--share", "0.5", "--reason", "small first")
    assert out == "shop: rolled out\n50 % of users see the winner `ltr`, and all others see the baseline `bm25`.\n"
    shown = json.loads(act("show", "--json"))
    assert (shown["status"], shown["rollout"]) == ("rolled_out", {"ranker": "ltr", "share": 0.5})
    baseline = "All users see the baseline `bm25`, although `ltr` won."
    assert act("roll-back") == f"shop: decided\n{baseline}\n"
    assert act("archive") == f"shop: archived\n{baseline}\n"
    assert "shop" not in ok("tournaments", "list", cwd=folder)
    assert "shop" in ok("tournaments", "list", "--all", cwd=folder)
    assert baseline in act("show")
    events = [json.loads(line) for line in act("export").splitlines()]
    kinds = (
        "created configured started added ranker_paused ranker_started retired retired retired configured rolled_out"
    )
    assert [event["kind"] for event in events] == [*kinds.split(), "rolled_back", "archived"]
    assert all(event["body"]["by"] for event in events)
    assert events[1]["body"]["guardrails"] == [{"action": "error", "bound": 0.02, "window": 600.0, "minimum": 100}]
    assert events[9]["body"]["attribution"]["window"] == 60
    assert (events[9]["body"]["guardrails"], events[9]["body"]["daily_cap"]) == ([], None)
    assert "to delete tournament 'shop', confirm its name; got 'shp'" in wrong(
        "tournaments", "delete", "shop", "--confirm", "shp", cwd=folder
    )
    assert act("delete", "--confirm", "shop") == "shop: deleted\n"
    assert "unknown tournament 'shop'" in wrong("tournaments", "show", "shop", cwd=folder)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("configure home", "nothing to change; pass at least one setting"),
        ("configure home --guardrail error", "argument --guardrail: expected ACTION=BOUND such as error=0.02"),
        ("configure home --guardrail error=0.02,hours=1", "unknown field 'hours' in a guardrail"),
        ("configure home --attribution 7", "argument --attribution: expected a JSON object, got '7'"),
        (
            "configure home --baseline other",
            "if your application shows another baseline, set --external-baseline",
        ),
        ("create x --ranker a", "a tournament needs at least 2 rankers, got a"),
        ("roll-out home", "tournament 'home' is running; this is possible only while decided or rolled out"),
        ("delete home --confirm home", "is running; this is possible only while draft or stopped or archived"),
    ],
)
def test_wrong_actions(folder: Path, action: str, message: str) -> None:
    assert message in wrong("tournaments", *action.split(), cwd=folder)


def test_create_with_everything(folder: Path) -> None:
    (folder / "names.txt").write_text("one\n\n two \nthree\n")
    options = "--rankers names.txt --bandit MergeDTS --baseline one --interleaving balanced --share 0.5 --shadow"
    options += " --daily-cap 3 --in-flight-cap 100 --expires-after 60 --seed 4 --json"
    told = json.loads(ok("tournaments", "create", "all", *options.split(), cwd=folder))
    assert told["rankers"] == ["one", "two", "three"]
    settings = told["settings"]
    assert settings["bandit"].startswith("MergeDTS(")
    assert (settings["share"], settings["shadow"], settings["daily_cap"]) == (0.5, True, 3)
    assert (settings["in_flight_cap"], settings["expires_after"], settings["baseline"]) == (100, 60, "one")
    options = "tournaments create b --ranker x --ranker y --delta 0.05 --tolerance 0.1 --json"
    tied = json.loads(ok(*options.split(), cwd=folder))
    assert (tied["delta"], tied["tolerance"]) == (0.05, 0.1)
    assert "no rankers given; repeat --ranker NAME" in wrong("tournaments", "create", "none", cwd=folder)
    assert "No such file" in wrong("tournaments", "create", "none", "--rankers", "nowhere", cwd=folder)
    twice = ("--ranker", "x", "--ranker", "x")
    assert "duplicate ranker 'x'" in wrong("tournaments", "create", "c", *twice, cwd=folder)


def test_tables(folder: Path) -> None:
    lines = ok("tournaments", "list", cwd=folder).splitlines()
    assert lines[0].split() == ["name", "status", "rankers", "left", "champion", "winner", "issued", "resolved"]
    assert lines[1].split()[:4] == ["home", "running", "2", "2"]
    assert lines[1].split()[-2:] == ["45", "40"]
    shown = ok("tournaments", "show", "home", "--limit", "1", cwd=folder)
    states = "45 issued, 0 shown, 40 resolved, 0 no signal, 0 expired, 0 late, 0 void, 0 failed, 5 in flight"
    assert f"duels: {states}" in shown
    assert "and 1 more; use --limit 2 to show all" in shown
    assert ok("tournaments", "list", "--storage", "sqlite:///duels.db", cwd=folder).splitlines() == lines


def test_exports(folder: Path) -> None:
    def export(*options: str) -> str:
        return ok("tournaments", "export", "home", *options, cwd=folder)

    journal = [json.loads(line) for line in export().splitlines()]
    assert [event["number"] for event in journal] == list(range(1, 42))
    battles = list(csv.DictReader(io.StringIO(export("--what", "battles", "--format", "csv"))))
    assert len(battles) == 40
    assert {row["winner"] for row in battles} == {"model_a"}
    assert {row["model_a"] for row in battles} <= {"bm25", "'=ltr"}  # no spreadsheet runs it
    duels = [json.loads(line) for line in export("--what", "duels").splitlines()]
    assert len({duel["duel"] for duel in duels}) == 45
    assert sum(duel["state"] == "resolved" for duel in duels) == 40
    standings = [json.loads(line) for line in export("--what", "leaderboard").splitlines()]
    assert sum(line["wins"] for line in standings) == 40
    assert export("--out", "journal.ndjson") == ""
    assert (folder / "journal.ndjson").read_text() == export()
    assert "journal.ndjson already exists; choose another file with --out" in wrong(
        "tournaments", "export", "home", "--out", "journal.ndjson", cwd=folder
    )
    told = wrong("tournaments", "export", "home", "--format", "parquet", cwd=folder)
    assert "--format parquet needs --out FILE" in told
    parquet = ("--what", "battles", "--format", "parquet", "--out", "battles.parquet")
    without = run("tournaments", "export", "home", *parquet, cwd=folder, without="pyarrow")
    assert (without.returncode, without.stderr.count("\n")) == (2, 1)
    assert "pip install 'rankduel[parquet]'" in without.stderr
    assert not (folder / "battles.parquet").exists()
    assert export(*parquet) == ""
    with (folder / "battles.parquet").open("rb") as file:
        assert len(list(read_parquet(file))) == 40


def test_keys(folder: Path) -> None:
    made = ok("keys", "create", "shop", "--scope", "ask", "--scope", "tell", cwd=folder)
    id = made.split("_")[1]
    rows = json.loads(ok("keys", "list", "--json", cwd=folder))
    assert [(row["name"], row["scopes"], row["revoked"]) for row in rows] == [
        ("admin", "admin", None),
        ("shop", "ask tell", None),
    ]
    assert all("digest" not in row for row in rows)
    assert ok("keys", "revoke", id, cwd=folder) == f"revoked {id}\n"
    assert f"no valid key has the id '{id}'" in wrong("keys", "revoke", id, cwd=folder)
    table = ok("keys", "list", cwd=folder).splitlines()
    assert table[0].split() == ["id", "name", "scopes", "created", "revoked"]
    assert table[2].split()[-1] != "-"
    assert "invalid choice: 'all'" in wrong("keys", "create", "x", "--scope", "all", cwd=folder)
    assert "--scope" in wrong("keys", "create", "x", cwd=folder)
    assert "--storage must be a storage such as sqlite:///duels.db, got the service http://host" in wrong(
        "keys", "list", "--storage", "http://host", cwd=folder
    )


def test_storage(folder: Path) -> None:
    assert command("storage", "backup", "copy.db", cwd=folder)[2].startswith("copy.db: ")
    assert "already exists and is not overwritten" in wrong("storage", "backup", "copy.db", cwd=folder)
    assert command("storage", "upgrade", cwd=folder)[2] == "nothing to do: the schema is up to date\n"
    with closing(sqlite3.connect(folder / "duels.db")) as file, file:
        file.execute("DELETE FROM journal WHERE number = 5")
    code, out, _ = command("storage", "verify", cwd=folder)
    assert code == 1
    assert "error    tournament 'home':" in out
    assert "has no event 5, but event 6" in out
    assert "--storage must be a storage such as sqlite:///duels.db, got the service http://host" in wrong(
        "storage", "verify", "--storage", "http://host", cwd=folder
    )


def make_old(folder: Path, days: float) -> None:
    with closing(sqlite3.connect(folder / "duels.db")) as file, file:
        file.execute("UPDATE duels SET issued = issued - ?", (86_400 * days,))


def test_prune(folder: Path) -> None:
    make_old(folder, 100)
    prune = ("storage", "prune", "--older-than", "90d")
    assert ok(*prune, "--dry-run", cwd=folder) == "home: duels to prune: 40\n"
    assert ok("storage", "prune", "--older-than", "101d", "--dry-run", cwd=folder) == "home: duels to prune: 0\n"
    code, out, err = command(*prune, "--tournament", "home", cwd=folder)
    assert (code, out) == (0, "")
    assert err.startswith("pruned 40 of 40 duels, ")
    assert "done in 0 s" in err
    assert command(*prune, cwd=folder)[2].startswith("pruned 0 of 0 duels")
    assert ok("storage", "verify", cwd=folder).count("ok ") == 4
    assert "bytes before" in command(*prune, "--vacuum", "--query-ids", cwd=folder)[2].splitlines()[-1]
    assert "unknown tournament 'shop'" in wrong(*prune, "--tournament", "shop", cwd=folder)
    assert "--vacuum does not work with --dry-run: it changes the file" in wrong(
        *prune, "--vacuum", "--dry-run", cwd=folder
    )
    assert "--vacuum does not work with this storage: PostgreSQL has autovacuum" in wrong(
        *prune, "--vacuum", "--storage", "postgresql://nowhere/duels", cwd=folder
    )
    assert "--storage must be a storage such as sqlite:///duels.db, got the service http://host" in wrong(
        *prune, "--storage", "http://host", cwd=folder
    )


@pytest.mark.parametrize("age", ["90", "d", "-1d", "0d", "90 d", "90w", "1e3d", "nand", "٣d"])
def test_wrong_ages(tmp_path: Path, age: str) -> None:
    error = wrong("storage", "prune", f"--older-than={age}", cwd=tmp_path)
    assert f"argument --older-than: expected a duration above 0 such as 90d, 12h or 30m, got {age!r}" in error


def test_erase(folder: Path) -> None:
    storage = f"sqlite:///{folder}/duels.db"
    with rd.Tournament.open("home", storage=storage) as t:
        t.tell_many([(t.ask(None, "u-7"), rd.Outcome.TIE) for _ in range(3)])
    erase = ("storage", "erase", "--client", "u-7", "--reason", "asked for it")
    assert ok(*erase, cwd=folder) == "home: duels of the client: 3\n"
    assert ok(*erase, "--tournament", "home", cwd=folder) == "home: duels of the client: 0\n"
    with rd.Tournament.open("home", storage=storage) as t:
        assert [event.body["reason"] for event in t.journal() if event.kind == "erased"] == ["asked for it"]
    assert "client_id must be 1 to 200 printable characters" in wrong("storage", "erase", "--client", "", cwd=folder)
    assert ok("storage", "verify", cwd=folder).count("ok ") == 4


@pytest.mark.slow
def test_prune_and_erase_while_a_service_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_old(folder, 100)
    key = ok("keys", "create", "anna", "--scope", "admin", cwd=folder).split()[-1]
    monkeypatch.setenv("RANKDUEL_KEY", key)
    with running(f"sqlite:///{folder}/duels.db") as service:
        with rd.Tournament.open("home", storage=service) as t:
            t.tell(t.ask(None, "u-7"), rd.Outcome.TIE)
        assert ok("storage", "prune", "--older-than", "90d", "--dry-run", cwd=folder) == "home: duels to prune: 40\n"
        told = wrong("storage", "prune", "--older-than", "90d", cwd=folder)
        assert "is in use by process" in told
        assert "set retention_days in the table [service] of rankduel.toml" in told
        told = wrong("storage", "erase", "--client", "u-7", cwd=folder)
        assert "use the http address of its service" in told
        erase = ("storage", "erase", "--client", "u-7", "--storage", service)
        assert ok(*erase, cwd=folder) == "home: duels of the client: 1\n"
        assert "no tournament 'shop'" in wrong(*erase, "--tournament", "shop", cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("tournaments", "the following arguments are required: ACTION"),
        ("tournaments list", "no storage given; pass --storage URL, or create a rankduel.toml with rankduel init"),
        ("tournaments list --storage duels.db", "storage must be sqlite:///FILE or postgresql://..., got 'duels.db'"),
        ("tournaments list --storage sqlite:///no.db", "no storage at"),
        ("tournaments list --storage http://127.0.0.1:9", "no valid response from http://127.0.0.1:9"),
        ("tournaments list --storage http://", "url must be http://HOST:PORT or https://HOST, got 'http://'"),
        ("tournaments list --config nowhere.toml", "No such file or directory: 'nowhere.toml'"),
        ("keys list", "no storage given"),
        ("storage backup x.db", "no storage given"),
        ("storage verify --storage sqlite:///no.db", "no storage at"),
        ("storage prune --older-than 1d --storage sqlite:///no.db", "no storage at"),
        ("storage prune --older-than 1d --dry-run --storage sqlite:///no.db", "no storage at"),
        ("storage erase --client u --storage sqlite:///no.db", "no storage at"),
        ("serve", "no storage given"),
        ("serve --storage duels.db", "storage must be sqlite:///FILE or postgresql://..., got 'duels.db'"),
        (
            "serve --storage http://host",
            "--storage must be a storage such as sqlite:///duels.db, got the service http://host",
        ),
        ("serve --storage sqlite:///no.db", "no storage at"),
        ("serve --storage sqlite:///x.db --processes 2", "processes must be 1, got 2"),
        ("serve --storage sqlite:///x.db --port 70000", "port must be a whole number from 0 to 65535, got 70000"),
        ("init --storage duels.db", "storage must be sqlite:///FILE or postgresql://..., got 'duels.db'"),
        (
            "init --storage http://host",
            "--storage must be a storage such as sqlite:///duels.db, got the service http://host",
        ),
        ("init --storage sqlite:///nowhere/x.db", "No such file or directory"),
    ],
)
def test_one_clear_line_and_nothing_written(tmp_path: Path, arguments: str, message: str) -> None:
    assert message in wrong(*arguments.split(), cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_without_the_extra(tmp_path: Path) -> None:
    ran = run("serve", "--storage", "sqlite:///x.db", cwd=tmp_path, without="uvicorn")
    assert ran.returncode == 2
    assert "the service needs the extra `server`: pip install 'rankduel[server]'" in ran.stderr
    assert run("init", cwd=tmp_path, without="msgspec").returncode == 0
    assert run("keys", "list", cwd=tmp_path, without="starlette").returncode == 0


def test_another_address_needs_a_key(tmp_path: Path) -> None:
    told = wrong("serve", "--create", "--storage", "sqlite:///x.db", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path)
    assert "API key" in told


def test_doctor_finds_what_is_wrong(folder: Path) -> None:
    def findings(*arguments: str, code: int) -> str:
        found, out, err = command("doctor", *arguments, cwd=folder)
        assert (found, err) == (code, ""), out
        return out

    assert "error    storage: no storage at" in findings("--storage", "sqlite:///no.db", code=1)
    assert "error    service: no valid response from http://127.0.0.1:9" in findings(
        "--storage", "http://127.0.0.1:9", code=1
    )
    (folder / "duels.db").chmod(0o644)
    assert "warning  storage: other users can read" in findings(code=0)
    with closing(sqlite3.connect(folder / "duels.db")) as file, file:
        file.execute("UPDATE duels SET issued = issued + 1e6")
        file.execute("UPDATE keys SET revoked = 1")
    told = findings(code=0)
    assert "in the future; set the clock" in told
    assert "no API keys; every process on this machine has full access" in told
    (folder / "rankduel.toml").write_text('storage = "sqlite:///duels.db"\n[service]\nhost = "0.0.0.0"\n')
    assert "error    keys: no API keys, so the service cannot listen on 0.0.0.0; run rankduel keys create" in findings(
        code=1
    )
    (folder / "rankduel.toml").write_text("prot = 1\n")
    assert "error    settings: rankduel.toml: unknown setting prot" in findings(code=1)
    (folder / "rankduel.toml").unlink()
    assert "error    storage: no storage given" in findings(code=1)
    (folder / "text.db").write_text("once upon a time " * 100)
    assert "error    storage: cannot open" in findings("--storage", "sqlite:///text.db", code=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stroage = 'x'", "unknown setting stroage; did you mean storage?"),
        ("[service]\nprot = 1", "unknown setting service.prot; did you mean service.port?"),
        ("[service]\nzzz = 1", "unknown setting service.zzz; expected host, port"),
        ("[server]\nport = 1", "unknown setting server; did you mean service?"),
        ("storage = 7", "storage must be a string, got 7"),
        ("service = 7", "service must be a table, [service], got 7"),
        ("[service]\nport = '80'", "port must be a whole number, got '80'"),
        ("[service]\nport = 80.5", "port must be a whole number, got 80.5"),
        ("[service]\nport = true", "port must be a whole number, got True"),
        ("[service]\nport = 70000", "port must be a whole number from 0 to 65535, got 70000"),
        ("[service]\nhosts = 'a'", "hosts must be a list of strings, got 'a'"),
        ("[service]\naccess_log = 1", "access_log must be true or false, got 1"),
        ("[service]\ndeadline = 'soon'", "deadline must be a number, got 'soon'"),
        ("[service]\ndeadline = nan", "deadline must be a number > 0"),
        ("[service]\nretention_days = '90d'", "retention_days must be a number, got '90d'"),
        ("[service]\nretention_days = -1", "retention_days must be a number >= 0 and < 1e6, got -1"),
        ("storage = ", "is not valid TOML"),
    ],
)
def test_settings_are_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rankduel.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"rankduel\.toml") as caught:
        read_config(path)
    assert message in str(caught.value)


def test_every_setting_is_explained_and_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "rankduel.toml"
    path.write_text(default_config_text('sqlite:///a "strange"\\ name.db'))
    assert read_config(path) == Config('sqlite:///a "strange"\\ name.db', ServiceSettings())
    uncommented = path.read_text().replace("\n# ", "\n").splitlines()
    settings = [line for line in uncommented if " = " in line or line == "[service]"]
    path.write_text("\n".join(settings))  # every default can be read as it is written
    assert read_config(path).service == ServiceSettings()
    assert len(settings) == 1 + len(SETTING_HELP)
    assert set(SETTING_HELP) == {"storage", *ServiceSettings.__slots__}


def test_the_storage_of_the_settings_is_used_by_all(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    path = f"sqlite:///{folder}/duels.db"
    (other / "mine.toml").write_text(f"storage = '{path}'")
    assert ok("tournaments", "list", "--config", "mine.toml", cwd=other).count("home") == 1
    assert ok("keys", "list", "--config", "mine.toml", cwd=other).count("admin") == 2
    with closing(storage_at(path, own=False)) as storage:
        assert storage.names() == ["home"]
