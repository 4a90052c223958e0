"""The life of three entries: submitted, processed, corrected, released, revised and revoked.

pipeline.py has to run beside it.
"""

import argparse
import os
import time

from client import User, released

ORGANISM = "fernvirus"
GROUP = {
    "groupName": "Moss lab", "institution": "Moss institute", "contactEmail": "moss@example.org",
    "address": {"line1": "1 Bog Lane", "line2": "", "city": "Fen", "state": "", "postalCode": "F1", "country": "Marshland"},
}
METADATA = "id\tcollectedOn\tvalley\tfrondCount\npond1\t2026-03-04\tSedge\t7\npond2\t2026-03-05\tReed\t\npond3\t2026-03-06\tRush\t12\n"
SEQUENCES = ">pond1\nATGGCTTGCAAAGGTTAA\n>pond2\nATGGCTTGTAAAGGTTAA\n>pond3\nATGGCTTGCAAAGG\n"


def wait_until_processed(user, versions, seconds=60):
    """Waits for the given (accession, version) pairs, and returns their rows of get-sequences."""
    deadline = time.monotonic() + seconds
    while True:
        listing = user.call("GET", f"/{ORGANISM}/get-sequences", query={"statusesFilter": "PROCESSED"}).json()
        rows = {(r["accession"], r["version"]): r for r in listing["sequenceEntries"]}
        if all(v in rows for v in versions):
            return {v: rows[v] for v in versions}
        if time.monotonic() > deadline:
            raise TimeoutError(f"not processed after {seconds} s; does pipeline.py run?")
        time.sleep(0.2)


def approve(user, versions):
    return user.post_json(f"/{ORGANISM}/approve-processed-data", {
        "scope": "ALL", "accessionVersionsFilter": [{"accession": a, "version": v} for a, v in versions],
    }).json()


def show(records):
    for record in records:
        m = record["metadata"]
        print(f"  {m['accessionVersion']}  {m['submissionId']}  {m['versionStatus']}  revocation: {m['isRevocation']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=os.environ.get("SEQLEASE_SERVER", "http://127.0.0.1:8079"))
    parser.add_argument("--password", required=True, help="of the user testuser")
    args = parser.parse_args()
    user = User(args.server, "testuser", args.password)

    group = user.post_json("/groups", GROUP).json()
    print(f"group {group['groupId']}: {group['groupName']}")

    stored = user.upload(f"/{ORGANISM}/submit", {"groupId": group["groupId"], "dataUseTermsType": "OPEN"},
                         {"metadataFile": ("metadata.tsv", METADATA), "sequenceFile": ("sequences.fasta", SEQUENCES)}).json()
    entries = {s["submissionId"]: (s["accession"], s["version"]) for s in stored}
    print(f"submitted: {len(entries)} entries")

    rows = wait_until_processed(user, entries.values())
    failed = [v for v, row in rows.items() if row["processingResult"] == "HAS_ERRORS"]
    print(f"processed: {len(rows)} entries, {len(failed)} with errors")

    # The submitter reads what is wrong, corrects it, and it is processed again.
    (accession, version), = failed
    entry = user.call("GET", f"/{ORGANISM}/get-data-to-edit/{accession}/{version}").json()
    print(f"error: {entry['errors'][0]['message']}")
    data = entry["submittedData"]
    data["unalignedNucleotideSequences"] = {"pond3": "ATGGCTTGCAAAGGTTAA"}
    user.post_json(f"/{ORGANISM}/submit-edited-data", {"accession": accession, "version": version, "data": data})
    rows = wait_until_processed(user, entries.values())
    print(f"edited: {sum(row['processingResult'] == 'HAS_ERRORS' for row in rows.values())} with errors")

    print(f"approved: {len(approve(user, entries.values()))} entries")
    records, etag = released(args.server, ORGANISM)
    print(f"released: {len(records)} records")
    again, _ = released(args.server, ORGANISM, etag)
    print(f"asked again with the tag: {'nothing new' if again is None else 'changed'}")

    # A revision replaces an entry, a revocation takes one back; both are released like any other version.
    first, second = entries["pond1"][0], entries["pond2"][0]
    revised = user.upload(f"/{ORGANISM}/revise", {}, {
        "metadataFile": ("revised.tsv", f"id\taccession\tcollectedOn\tvalley\npond1\t{first}\t2026-03-04\tSedge, upper\n"),
        "sequenceFile": ("revised.fasta", ">pond1\nATGGCATGCAAAGGTTAA\n"),
    }).json()
    revoked = user.post_json(f"/{ORGANISM}/revoke", {"accessions": [second], "versionComment": "the samples were mixed up"}).json()
    versions = [(s["accession"], s["version"]) for s in revised + revoked]
    wait_until_processed(user, versions)
    approve(user, versions)
    records, _ = released(args.server, ORGANISM, etag)
    print(f"after a revision and a revocation: {len(records)} records")
    show(records)


if __name__ == "__main__":
    main()
