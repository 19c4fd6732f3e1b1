"""Run logs: lines of JSON, appending, pipes and full disks."""

import json
import os
import re
import threading

import pytest
from interrupted_runs import interrupted_after, learn
from platforms import needs_pipes

import embeddings as em
from embeddings.cli.info import describe
from embeddings.errors import OutputError, SettingError
from embeddings.testing.trainer_contract import synonym_corpus


def read_events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_lines_of_a_log(tmp_path):
    path = tmp_path / "run.jsonl"
    model = learn("skipgram", synonym_corpus(), {"epochs": 30}, callbacks=[em.training.RunLog(path)])
    assert describe(path)["what"] == "log of a run"
    first, *middle, last = read_events(path)
    assert (first["event"], first["trainer"], first["settings"]["dim"], first["seed"]) == ("begin", "skipgram", 8, 3)
    assert {line["event"] for line in middle} == {"progress"}
    assert middle[-1]["words"] == middle[-1]["total_words"] == 30 * 2400
    assert 0 < middle[-1]["loss"] < 10
    assert last["event"] == "end"
    assert last["loss_by_epoch"] == model.record["loss_by_epoch"]
    assert all(
        re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"]) for line in read_events(path)
    )


def test_resumed_run_appends_to_its_log(tmp_path):
    path, checkpoints = tmp_path / "run.jsonl", em.Checkpoints(tmp_path / "c")
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn("cbow", synonym_corpus(), {}, checkpoints=checkpoints, callbacks=[em.training.RunLog(path)])
    with path.open("a") as stream:
        stream.write('{"event": "cut sho')
    learn(
        "cbow",
        synonym_corpus(),
        {},
        checkpoints=checkpoints,
        callbacks=[em.training.RunLog(path, append=True)],
        resume=True,
    )
    lines = path.read_text().splitlines()
    events = [json.loads(line)["event"] for line in lines if "cut sho" not in line]
    assert events == ["begin", "progress", "checkpoint", "interrupted", "begin", "progress", "end"]
    assert len(lines) == len(events) + 1


@needs_pipes
def test_log_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(read_events(tmp_path / "pipe")), daemon=True)
    reader.start()
    learn("skipgram", synonym_corpus(), {}, callbacks=[em.training.RunLog(tmp_path / "pipe")])
    reader.join(60)
    assert [line["event"] for line in (lines[0], lines[-1])] == ["begin", "end"]
    assert (tmp_path / "pipe").is_fifo()


def test_only_logs_are_appended_to(tmp_path):
    path = tmp_path / "run.jsonl"
    for content in ("another's", '{"event": "begin", "what": "a text of somebody else"}\n'):
        path.write_text(content)
        for options in ({}, {"force": True}):
            with pytest.raises(OutputError, match=r"run\.jsonl.*not the log of a run"):
                em.training.RunLog(path, append=True, **options)
        assert path.read_text() == content
    assert describe(path)["what"] == "text"
    with pytest.raises(OutputError, match="folder"):
        em.training.RunLog(tmp_path, force=True)
    for path_of_log in (3, None, ""):
        with pytest.raises(SettingError, match=r"log.*file"):
            em.training.RunLog(path_of_log)
    path.write_text("")
    em.training.RunLog(path, append=True)


def test_full_disk_ends_the_log_but_not_the_run(tmp_path):
    log = em.training.RunLog(tmp_path / "run.jsonl")

    class FullDisk:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def close(self):
            raise OSError(28, "No space left on device")

    class FillDisk(em.Callback):
        def on_run_start(self, run_start):
            log.close()
            log.stream = FullDisk()

    assert learn("cbow", synonym_corpus(), {}, callbacks=[log, FillDisk()]).record["words"] == 4800


def test_paths_that_are_not_unicode_are_escaped(tmp_path):
    """An undecodable file name must not end the run."""
    checkpoints = em.Checkpoints(tmp_path / "c\udcff")
    with interrupted_after(2), pytest.raises(em.training.Interrupted):
        learn(
            "cbow",
            synonym_corpus(),
            {},
            checkpoints=checkpoints,
            callbacks=[em.training.RunLog(tmp_path / "run.jsonl")],
        )
    (checkpoint,) = (line for line in read_events(tmp_path / "run.jsonl") if line["event"] == "checkpoint")
    assert "c\udcff" in checkpoint["path"]
