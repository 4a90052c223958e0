package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/client"
)

// A pipeline that is told that its results came too late drops them and claims
// again; every refused line comes with its reason.
func ExampleClient_SubmitResults() {
	server := httptest.NewServer(answer(422, `{"type":"urn:seqlease:problem:results-refused","title":"Unprocessable Entity","status":422,`+
		`"detail":"1 result line refused","refused":[{"accession":"LOC_000001Y","version":1,"line":1,"reason":"lease-lost","detail":"the lease has ended"}]}`,
		"Content-Type", "application/problem+json"))
	defer server.Close()

	c, err := client.New(server.URL, "my token")
	if err != nil {
		fmt.Println(err)
		return
	}
	results := []seqlease.Result{{AccessionVersion: seqlease.AccessionVersion{Accession: "LOC_000001Y", Version: 1}}}
	err = c.SubmitResults(context.Background(), "zika", 1, slices.Values(results))
	var refused *seqlease.RefusedError
	if errors.As(err, &refused) {
		for _, line := range refused.Refused {
			fmt.Println(line.AccessionVersion, line.Reason, "-", line.Detail)
		}
	}
	// Output: LOC_000001Y.1 lease-lost - the lease has ended
}
