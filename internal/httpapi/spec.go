package httpapi

import (
	_ "embed" // openapi.yaml is served and gives the roles
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/seqlease/seqlease"
)

//go:embed openapi.yaml
var openapiYAML []byte

// access is what an operation asks of the caller.
type access struct {
	public bool            // needs no token; one that is sent must be valid
	roles  []seqlease.Role // all of them are needed
}

// description is the parsed OpenAPI document.
type description struct {
	json     []byte
	access   map[string]access   // by method and path, as in "GET /groups/{groupId}"
	produces map[string][]string // media types of good answers, by the same; none if there may be no body
}

// readDescription reads the embedded OpenAPI document. An operation without a
// security requirement is a fault, so that nothing is public by omission.
func readDescription(document []byte) (*description, error) {
	asJSON, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var spec struct {
		Paths map[string]map[string]struct {
			Security  *[]map[string][]seqlease.Role `yaml:"security"`
			Responses map[string]struct {
				Content map[string]any `yaml:"content"`
			} `yaml:"responses"`
		} `yaml:"paths"`
	}
	if err := yaml.Unmarshal(document, &spec); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := &description{json: asJSON, access: map[string]access{}, produces: map[string][]string{}}
	for path, operations := range spec.Paths {
		for method, operation := range operations {
			name := strings.ToUpper(method) + " " + path
			if operation.Security == nil {
				return nil, fmt.Errorf("openapi.yaml: %s has no security requirement", name)
			}
			a := access{public: len(*operation.Security) == 0}
			for _, requirement := range *operation.Security {
				roles, bearer := requirement["bearer"]
				if !bearer || len(*operation.Security) > 1 {
					return nil, fmt.Errorf("openapi.yaml: %s must ask for one bearer token, or for nothing", name)
				}
				a.roles = roles
			}
			d.access[name] = a
			if _, bodiless := operation.Responses["204"]; !bodiless {
				d.produces[name] = slices.Sorted(maps.Keys(operation.Responses["200"].Content))
			}
		}
	}
	return d, nil
}

// allows says whether a person with the given roles may call the operation.
func (a access) allows(p seqlease.Person) bool {
	return !slices.ContainsFunc(a.roles, func(role seqlease.Role) bool { return !p.Has(role) })
}
