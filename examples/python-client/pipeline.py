"""A preprocessing pipeline for the organism fernvirus of `seqlease serve --dev`.

It claims entries, "aligns" genomes that are as long as the reference, translates the one gene, and sends the results back.
Everything but process() is the same for any pipeline.
"""

import argparse
import json
import os
import sys
import time

from client import Refused, User

ORGANISM = "fernvirus"
PIPELINE_VERSION = 1
REFERENCE_LENGTH = 18
CODONS = {"ATG": "M", "GCT": "A", "GCA": "A", "TGC": "C", "TGT": "C", "AAA": "K", "AAG": "K", "GGT": "G", "GGA": "G", "TAA": "*"}
NUMBERS = {"frondCount": int, "coverage": float}


def annotation(message, kind, name):
    source = [{"type": kind, "name": name}]
    return {"message": message, "unprocessedFields": source, "processedFields": source}


def process(entry):
    """Makes the result of a claimed entry: data, errors that keep it from being released, and warnings."""
    data = entry["data"]
    errors, warnings = [], []
    metadata = {}
    for field, text in data["metadata"].items():
        try:
            metadata[field] = None if text in (None, "") else NUMBERS.get(field, str)(text)
        except ValueError:
            errors.append(annotation(f"{field} should be a number, not {text}", "Metadata", field))
    result = {
        "metadata": metadata,
        "unalignedNucleotideSequences": {}, "alignedNucleotideSequences": {}, "nucleotideInsertions": {},
        "alignedAminoAcidSequences": {}, "aminoAcidInsertions": {}, "sequenceNameToFastaId": {},
    }
    for fasta_id, genome in data["unalignedNucleotideSequences"].items():
        genome = genome.upper()
        result["unalignedNucleotideSequences"]["main"] = genome
        result["sequenceNameToFastaId"]["main"] = fasta_id
        if len(genome) != REFERENCE_LENGTH:
            errors.append(annotation(f"the genome has {len(genome)} bases, not {REFERENCE_LENGTH}", "NucleotideSequence", "main"))
            continue
        result["alignedNucleotideSequences"]["main"] = genome
        protein = "".join(CODONS.get(genome[i:i + 3], "X") for i in range(0, len(genome), 3))
        result["alignedAminoAcidSequences"]["capA"] = protein
        if "X" in protein:
            warnings.append(annotation("a codon can't be translated", "NucleotideSequence", "main"))
    return {
        "accession": entry["accession"], "version": entry["version"],
        # The one thing to carry along: it says which claim the result is of.
        "processingAttemptId": entry["processingAttemptId"],
        "data": result, "errors": errors, "warnings": warnings,
    }


def run(user, batch, stop_when_idle):
    etag = None
    while True:
        form = f"numberOfSequenceEntries={batch}&pipelineVersion={PIPELINE_VERSION}"
        answer = user.call("POST", f"/{ORGANISM}/extract-unprocessed-data", body=form.encode(),
                           content_type="application/x-www-form-urlencoded", headers={"If-None-Match": etag} if etag else {})
        entries = answer.lines()
        if not entries:  # 304, or an empty 200 with the tag to ask with
            if stop_when_idle and answer.status == 304:
                return
            etag = answer.headers["ETag"]
            time.sleep(0.2)
            continue
        etag = None
        body = "\n".join(json.dumps(process(entry)) for entry in entries)
        try:
            user.call("POST", f"/{ORGANISM}/submit-processed-data", query={"pipelineVersion": PIPELINE_VERSION},
                      body=body.encode(), content_type="application/x-ndjson")
            print(f"pipeline: {len(entries)} results", flush=True)
        except Refused as refused:
            # Such as a lease that ended: nothing was stored, and the entries will be handed out again.
            print(f"pipeline: results refused: {refused}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=os.environ.get("SEQLEASE_SERVER", "http://127.0.0.1:8079"))
    parser.add_argument("--password", required=True, help="of the user preprocessing_pipeline")
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--stop-when-idle", action="store_true", help="end when nothing is waiting")
    args = parser.parse_args()
    run(User(args.server, "preprocessing_pipeline", args.password), args.batch, args.stop_when_idle)


if __name__ == "__main__":
    main()
