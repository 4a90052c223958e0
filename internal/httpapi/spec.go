package httpapi

import (
	_ "embed" // openapi.yaml is served and gives the roles
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

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
	strict   map[string]strict   // the operations that take nothing they don't know, by the same
}

// strict is an operation that refuses parameters and members that it doesn't know
// (ADR 29).
type strict struct {
	parameters []string // that it takes in the query
	takesJSON  bool     // in its body
	advice     string   // what the operation does, for those who meant another
}

// embedded is what [New] describes. Reading it takes longer than all else that New does.
var embedded = sync.OnceValues(func() (*description, error) { return readDescription(openapiYAML) })

// readDescription reads an OpenAPI document. An operation without a
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
			Parameters  []parameterRef `yaml:"parameters"`
			RequestBody map[string]any `yaml:"requestBody"`
			Strict      string         `yaml:"x-refuses-unknown"`
		} `yaml:"paths"`
		Components struct {
			Parameters map[string]parameterRef `yaml:"parameters"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(document, &spec); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	d := &description{json: asJSON, access: map[string]access{}, produces: map[string][]string{}, strict: map[string]strict{}}
	for way, operations := range spec.Paths {
		for method, operation := range operations {
			name := strings.ToUpper(method) + " " + way
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
			if operation.Strict != "" {
				d.strict[name] = strict{
					parameters: queryParameters(operation.Parameters, spec.Components.Parameters),
					takesJSON:  operation.RequestBody != nil, advice: operation.Strict,
				}
			}
		}
	}
	return d, nil
}

// parameterRef is a parameter, or a reference to one of the components.
type parameterRef struct {
	Ref  string `yaml:"$ref"`
	Name string `yaml:"name"`
	In   string `yaml:"in"`
}

// queryParameters returns the names of those that stand in the query.
func queryParameters(list []parameterRef, components map[string]parameterRef) []string {
	var names []string
	for _, p := range list {
		if p.Ref != "" {
			p = components[path.Base(p.Ref)]
		}
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// allows says whether a person with the given roles may call the operation.
func (a access) allows(p seqlease.Person) bool {
	return !slices.ContainsFunc(a.roles, func(role seqlease.Role) bool { return !p.Has(role) })
}
