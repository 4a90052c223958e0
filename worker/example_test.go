package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
	"github.com/seqlease/seqlease/worker"
)

// A whole pipeline: a function from an entry to a result, and a worker that
// claims, sends and tries again.
func Example() {
	ctx := context.Background()
	url, stop, err := startServer(ctx) // yours is running already
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()

	c, err := client.New(url, "pipeline") // the token
	if err != nil {
		fmt.Println(err)
		return
	}
	w := worker.Worker{
		Client: c, Organism: moss, PipelineVersion: 1, Parallel: 1,
		Process: func(_ context.Context, entry seqlease.Entry) seqlease.Result {
			var r seqlease.Result
			bog, _ := json.Marshal(entry.Data.Metadata["bog"])
			r.Data.Metadata = map[string]json.RawMessage{"bog": bog}
			for fastaID, genome := range entry.Data.UnalignedNucleotideSequences {
				r.Data.UnalignedNucleotideSequences = map[string]*string{"main": &genome}
				r.Data.AlignedNucleotideSequences = map[string]*string{"main": &genome}
				r.Data.SequenceNameToFastaID = map[string]string{"main": fastaID}
				if strings.Contains(genome, "N") {
					r.Warnings = append(r.Warnings, seqlease.Annotation{Message: "There are unknown bases."})
				}
			}
			return r
		},
		UntilEmpty: true, // else it waits for more until its context ends
		Observe: func(e worker.Event) {
			if e.Kind == worker.EntryDone || e.Kind == worker.Submitted {
				fmt.Println(e.Kind, len(e.Entries), e.Warnings)
			}
		},
	}
	if err := w.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// entry-done 1 []
	// entry-done 1 [There are unknown bases.]
	// submitted 2 []
}
