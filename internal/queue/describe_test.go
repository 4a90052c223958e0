package queue

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seqlease/seqlease"
)

// A text of problems has room in a reason, and accounts for every problem.
func TestDescribe(t *testing.T) {
	t.Parallel()
	furthermore := regexp.MustCompile(`; and (\d+) more$`)
	for _, tt := range []struct{ problems, length, more, wantListed int }{
		{1, 20, 0, 1},
		{3, 20, 0, 3},
		{20, 20, 0, 20},
		{21, 20, 0, 20},
		{20, 20, 7, 20},
		{1, 10_000, 0, 1},
		{3, 1200, 0, 1},
		{20, 300, 1_000_000, 6},
	} {
		var problems []seqlease.Problem
		for i := range tt.problems {
			problems = append(problems, seqlease.Problem{Message: fmt.Sprintf("fault %d\x00%s", i, strings.Repeat("é", tt.length/2))})
		}
		text := describe(problems, tt.more)
		if got := CleanReason(text); got != text {
			t.Errorf("%+v: the text is cut or cleaned once more:\n%s\n%s", tt, text, got)
		}
		listed, rest := strings.Count(text, "fault "), 0
		if found := furthermore.FindStringSubmatch(text); found != nil {
			rest, _ = strconv.Atoi(found[1])
		}
		if listed != tt.wantListed || listed+rest != tt.problems+tt.more {
			t.Errorf("%+v: %d listed and %d more: %s", tt, listed, rest, text)
		}
	}
}

func TestCheckFiles_IsBounded(t *testing.T) {
	t.Parallel()
	if problems, more := checkFiles(seqlease.Files{"trees": {}, "reads": nil}, []string{"reads", "trees"}); len(problems) > 0 || more > 0 {
		t.Errorf("no files: %v and %d more", problems, more)
	}
	files := seqlease.Files{}
	for i := range 5000 {
		files[fmt.Sprintf("category%04d", i)] = nil
	}
	problems, more := checkFiles(files, []string{"trees"})
	if len(problems) != seqlease.MaxListedProblems || len(problems)+more != len(files) || !strings.Contains(problems[0].Message, "category0000") {
		t.Errorf("%d problems and %d more, want %d of %d, the first first: %v", len(problems), more, seqlease.MaxListedProblems, len(files), problems[:1])
	}
}

func TestUnstorable_L18_IsBounded(t *testing.T) {
	t.Parallel()
	const texts = 5000
	list := make([]seqlease.Insertion, texts)
	for i := range list {
		list[i].Sequence = "\x00"
	}
	r := &seqlease.Result{Data: seqlease.ProcessedData{NucleotideInsertions: map[string][]seqlease.Insertion{"main": list}}}
	if problems, more := unstorableTexts(r, false); len(problems) != maxUnstorable || len(problems)+more != texts {
		t.Errorf("%d problems and %d more, want %d of %d", len(problems), more, maxUnstorable, texts)
	}
}
