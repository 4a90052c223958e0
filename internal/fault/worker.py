"""A worker of fault tests in Python: the protocol's two calls and nothing else.

It writes the same log as the Go one. Its clock may be wrong: it takes the
instants of its log from /proc/uptime, which nobody sets, and decides nothing
by a clock.
"""
import hashlib
import json
import os
import signal
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

server, organism, label, log_path, batch, pace = sys.argv[1:7]
log = open(log_path, "ab", buffering=0)
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())


def uptime():
    with open("/proc/uptime") as f:
        return float(f.read().split()[0])


def held(body):
    entries = []
    for text in body.split(b"\n"):
        try:
            line = json.loads(text)
            entries.append({k: line[k] for k in ("accession", "version", "processingAttemptId", "leaseSeconds") if k in line})
        except ValueError:
            pass
    return entries


def call(name, body, content_type, query=""):
    line = {"call": name, "worker": label, "sent": uptime(), "status": 0, "whole": False}
    request = urllib.request.Request(
        f"{server}/{organism}/{name}{query}", data=body, method="POST",
        headers={"Content-Type": content_type, "Authorization": "Bearer " + os.environ["WORKER_TOKEN"]})
    answer = b""
    if name == "submit-processed-data":
        log.write(json.dumps({**line, "call": "submitting", "got": line["sent"]}).encode() + b"\n")
    try:
        try:
            with urllib.request.urlopen(request, timeout=6) as response:
                line["status"] = response.status
                answer = response.read()
        except urllib.error.HTTPError as response:
            line["status"] = response.code
            answer = response.read()
        line["whole"] = True
    except Exception as error:  # whatever a broken network makes of a call
        answer = getattr(error, "partial", answer)
        line["error"] = repr(error)
    if name == "extract-unprocessed-data":
        line["entries"] = held(answer)
    else:
        line["entries"] = held(body)
        try:
            line["refused"] = json.loads(answer).get("refused") or []
        except (ValueError, AttributeError):
            pass
    line["got"], line["clock"] = uptime(), int(time.time())
    log.write(json.dumps(line).encode() + b"\n")
    return line["status"] if line["whole"] else 0, answer


def result(line):
    attempt = line["processingAttemptId"]
    name = f'{line["accession"]}.{line["version"]} {attempt}'
    metadata = {k: line["data"]["metadata"].get(k) for k in ("place", "note")}
    metadata.update(attempt=attempt, proof=hashlib.sha256(name.encode()).hexdigest()[:16])
    sequences = line["data"]["unalignedNucleotideSequences"]
    return json.dumps({
        "accession": line["accession"], "version": line["version"], "processingAttemptId": attempt,
        "errors": [], "warnings": [], "data": {
            "metadata": metadata, "unalignedNucleotideSequences": {"main": s for s in sequences.values()},
            "alignedNucleotideSequences": {}, "nucleotideInsertions": {}, "alignedAminoAcidSequences": {},
            "aminoAcidInsertions": {}, "sequenceNameToFastaId": {"main": i for i in sequences}}})


while not stop.is_set():
    form = urllib.parse.urlencode({
        "numberOfSequenceEntries": batch, "pipelineVersion": 1, "leaseSeconds": 10, "workerId": label})
    status, answer = call("extract-unprocessed-data", form.encode(), "application/x-www-form-urlencoded")
    if status != 200 or not answer:
        stop.wait(0.3)
        continue
    lines = []
    for text in answer.decode().splitlines():
        stop.wait(float(pace))
        entry = json.loads(text)
        if entry["data"]["metadata"].get("place") == "poison":
            os._exit(66)
        lines.append(result(entry))
    body = "\n".join(lines).encode()
    for _ in range(20):
        status, _ = call("submit-processed-data", body, "application/x-ndjson", "?pipelineVersion=1")
        if 200 <= status < 500 or stop.is_set():
            break
        stop.wait(0.5)
