package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestProblem_DetailIsOneSentence pins what people read of the commonest errors:
// the whole detail, without what the rooms were doing.
func TestProblem_DetailIsOneSentence(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	group := d.newGroup(t, anna)
	stored := d.submit(t, group, 1, 20)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	json := []string{"Content-Type", "application/json"}
	claim := "numberOfSequenceEntries=1&pipelineVersion="
	metadata := "@metadata.tsv\nid\tcountry\nx\tKenya\n"
	files, multipart := upload(t, "metadataFile", metadata, "sequenceFile", "@x.fasta\n>x\nACGT\n")
	noGroup, noGroupType := upload(t, "metadataFile", metadata, "sequenceFile", "@x.fasta\n>x\nACGT\n")
	strangers, strangersType := upload(t, "metadataFile", metadata, "sequenceFile", "@x.fasta\n>x\nACGT\n")
	lost := strings.Replace(resultOf(d.claim(t, pipe, 1)[0]), `"version":1`, `"version":2`, 1)
	for name, c := range map[string]struct {
		answer answer
		status int
		want   string
	}{
		"unknown organism, claim": {
			d.call(t, "POST", "/fern/extract-unprocessed-data", pipe, strings.NewReader(claim+"1"), form...), 400,
			`there is no organism "fern" on this server: the organisms are cchf, zika`,
		},
		"unknown organism, list": {
			d.call(t, "GET", "/fern/get-sequences", anna, nil), 400,
			`there is no organism "fern" on this server: the organisms are cchf, zika`,
		},
		"outdated pipeline": {
			d.call(t, "POST", "/zika/extract-unprocessed-data", pipe, strings.NewReader(claim+"0"), form...), 422,
			"pipeline version 0 of zika is outdated, version 1 is current: update the pipeline",
		},
		"unknown pipeline": {
			d.call(t, "POST", "/zika/extract-unprocessed-data", pipe, strings.NewReader(claim+"9"), form...), 422,
			"pipeline version 9 of zika is not registered, version 1 is current: claim with that",
		},
		"unknown group": {
			d.call(t, "GET", "/groups/999", anna, nil), 404,
			"there is no group 999: create a group, or name one that you are a member of",
		},
		"upload for an unknown group": {
			d.call(t, "POST", "/zika/submit?groupId=999", anna, files, "Content-Type", multipart), 404,
			"there is no group 999: create a group, or name one that you are a member of",
		},
		"upload without a group": {
			d.call(t, "POST", "/zika/submit", anna, noGroup, "Content-Type", noGroupType), 400,
			"groupId is missing: send it in the query or as a field of the form",
		},
		"upload for a group of others": {
			d.call(t, "POST", fmt.Sprintf("/zika/submit?groupId=%d", group), bob, strangers, "Content-Type", strangersType), 403,
			fmt.Sprintf("user %q is not a member of group %d: ask a member to do it", bob, group),
		},
		"approval of a group of others": {
			d.call(t, "POST", "/zika/approve-processed-data", bob,
				strings.NewReader(fmt.Sprintf(`{"scope":"ALL","groupIdsFilter":[%d]}`, group)), json...), 403,
			fmt.Sprintf("user %q is not a member of group %d: ask a member to do it", bob, group),
		},
		"one refused line": {
			d.sendResults(t, lost), 422,
			fmt.Sprintf("1 result line was refused and nothing was stored: line 1 (%[1]s.2): not-found: %[1]s.2 doesn't exist, or was deleted: drop the result", stored[0].Accession),
		},
		"too large": {
			d.call(t, "POST", "/groups", anna, strings.NewReader(strings.Repeat(" ", 1<<17)), json...), 413,
			"the JSON body may have at most 65536 bytes",
		},
	} {
		if p := c.answer.problem(t, c.status); p.Detail != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, p.Detail, c.want)
		}
	}
	if log := d.log.String(); !strings.Contains(log, "not found: there is no group 999") {
		t.Error("the log doesn't tell the whole error")
	}
}
