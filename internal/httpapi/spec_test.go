package httpapi_test

import (
	"slices"
	"testing"
)

// TestSpec_BodiesHaveALimit: every operation with a body says that it may be too large.
func TestSpec_BodiesHaveALimit(t *testing.T) {
	t.Parallel()
	d := newDoor(t, doorOptions{})
	var spec struct {
		Paths map[string]map[string]struct {
			RequestBody *struct{ Required bool }
			Responses   map[string]any
		}
	}
	d.call(t, "GET", "/openapi.json", "", nil).want(t, 200).into(t, &spec)
	var bodies []string
	for path, operations := range spec.Paths {
		for method, o := range operations {
			if o.RequestBody == nil {
				continue
			}
			bodies = append(bodies, method+" "+path)
			if o.Responses["413"] == nil {
				t.Errorf("%s %s has a body and no 413", method, path)
			}
		}
	}
	if !slices.Contains(bodies, "put /groups/{groupId}") {
		t.Errorf("the operations with a body are %v", bodies)
	}
}
