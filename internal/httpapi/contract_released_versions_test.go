package httpapi_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestContract_ReleasedData_Revocation follows one accession to its end.
func TestContract_ReleasedData_Revocation(t *testing.T) {
	t.Parallel()
	onBothStores(t, doorOptions{organisms: publishing()}, func(t *testing.T, d *door) {
		group := d.newGroup(t, anna)
		first := d.release(t, group, 1)[0]
		d.sendExternal(t, "ena", about(first, `{"archiveId":"OX1","archivedOn":"2020-02-29"}`)).want(t, 204)
		look := func(want ...string) []releasedLine {
			t.Helper()
			a := d.call(t, "GET", releasedPath, "", nil).want(t, 200)
			lines := releasedLines(t, a.body)
			wantHeader(t, a, "X-Total-Records", strconv.Itoa(len(lines)))
			var got []string
			for _, l := range lines {
				got = append(got, strings.ReplaceAll(string(l.Metadata["version"])+" "+string(l.Metadata["versionStatus"])+" "+string(l.Metadata["earliestReleaseDate"]), `"`, ""))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
			return lines
		}
		look("1 LATEST_VERSION 2020-02-29")
		d.post(t, "revoke", anna, fmt.Sprintf(`{"accessions":[%q],"versionComment":"wrong \u2028sample"}`, first.Accession)).want(t, 200)
		look("1 LATEST_VERSION 2020-02-29") // what isn't approved isn't there
		tag := d.call(t, "GET", releasedPath, "", nil).want(t, 200).Header.Get("ETag")
		d.approveAll(t)
		if changed := d.call(t, "GET", releasedPath, "", nil, "If-None-Match", tag).want(t, 200).Header.Get("ETag"); changed <= tag {
			t.Errorf("the tag %s after a revocation doesn't rise over %s", changed, tag)
		}
		lines := look("1 REVOKED 2020-02-29", "2 LATEST_VERSION 2020-02-29")
		day := strconv.Quote(time.Now().UTC().Format(time.DateOnly))
		lines[1].wantFields(t, map[string]string{
			"accession": strconv.Quote(string(first.Accession)), "version": "2", "accessionVersion": strconv.Quote(string(first.Accession) + ".2"),
			"submissionId": `"s0"`, "submitter": `"anna"`, "isRevocation": "true", "groupId": strconv.FormatInt(group, 10), "groupName": `"Lab"`,
			"submittedDate": day, "releasedDate": day, "versionStatus": `"LATEST_VERSION"`, "pipelineVersion": "1", "earliestReleaseDate": `"2020-02-29"`,
			"annotations": "null", "rawReads": "null", "versionComment": `"wrong \u2028sample"`,
			"country": "null", "age": "null", "date": "null", "archiveId": "null", "archivedOn": "null",
		})
		lines[1].wantTimes(t)
		if diff := cmp.Diff(map[string]string{
			"unalignedNucleotideSequences": `{"main":null}`, "alignedNucleotideSequences": `{"main":null}`, "nucleotideInsertions": `{"main":[]}`,
			"alignedAminoAcidSequences": `{"E":null}`, "aminoAcidInsertions": `{"E":[]}`,
		}, lines[1].others()); diff != "" {
			t.Errorf("the revocation's other members (-want +got):\n%s", diff)
		}
	})
}
