package httpapi

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	json "github.com/go-json-experiment/json"

	"github.com/seqlease/seqlease"
)

// refuseParameters refuses a query with parameters that the operation doesn't know:
// without a condition that is misspelt, or meant for the body, the call would be about
// more than was meant.
func (o strict) refuseParameters(query url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(o.parameters, name) {
			continue
		}
		takes := "it takes " + listed(o.parameters)
		if len(o.parameters) == 0 {
			takes = "it takes none"
			if o.takesJSON {
				takes += ", only members of a JSON body"
			}
		}
		return unknownName(name, "parameter", takes, o.advice)
	}
	return nil
}

// unknownMember is the same for a member of a body of the operation, which err is what
// the decoder says of; ok is false if that is about something else.
func unknownMember(err error, o *strict) (refused *seqlease.InvalidError, ok bool) {
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok || o == nil || !errors.Is(semantic.Err, json.ErrUnknownName) {
		return nil, false
	}
	return unknownName(memberName(semantic.JSONPointer), "member", "what it is in takes "+listed(membersOf(semantic.GoType)), o.advice), true
}

func unknownName(name, kind, takes, advice string) *seqlease.InvalidError {
	name = cut(name, maxShown)
	return seqlease.InvalidParameter(name, fmt.Sprintf(
		"%q is no %s of this call: %s. Nothing was done; correct the name or leave it out. %s", name, kind, takes, advice))
}

// membersOf returns the names of a struct's members in JSON.
func membersOf(body reflect.Type) []string {
	var names []string
	for i := range body.NumField() {
		name, _, _ := strings.Cut(body.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// listed writes names for people: "a, b and c".
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
