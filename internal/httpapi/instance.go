package httpapi

import (
	"net/http"
	"strings"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/organism"
)

// Hosts are where clients find the parts of an instance. URLs have no slash at
// their end.
type Hosts struct {
	// Backend is this server as clients reach it; empty: where the request went to.
	Backend string
	// IdentityProvider is above `/realms/…`; empty: this server is its own, as in
	// development, and where the request went to.
	IdentityProvider string
	Website          string
	// QueryEngines are those of organisms. One that has none is told to be at this
	// server, below its key, where requests are answered 404.
	QueryEngines map[seqlease.Organism]string
}

// What the command line client is told of every instance.
const (
	minCLIVersion = "0.0.0" // any
	primaryKey    = "accessionVersion"
	onlyReference = "singleReference"
)

// GetLoculusInfo tells where everything is.
func (s *server) GetLoculusInfo(w http.ResponseWriter, r *http.Request) {
	hosts := InstanceHosts{
		Backend: hostOr(s.hosts.Backend, r), Keycloak: hostOr(s.hosts.IdentityProvider, r), Website: hostOr(s.hosts.Website, r),
		Lapis: map[string]string{},
	}
	info := InstanceInfo{Title: s.name, MinCliVersion: minCLIVersion, Hosts: hosts, Organisms: map[string]InstanceOrganism{}}
	for _, o := range s.organisms.All() {
		engine := s.hosts.QueryEngines[o.Key]
		if engine == "" {
			engine = hosts.Backend + "/" + string(o.Key)
		}
		hosts.Lapis[string(o.Key)] = strings.TrimSuffix(engine, "/")
		info.Organisms[string(o.Key)] = instanceOrganism(o)
	}
	w.Header().Set("Cache-Control", "no-store") // hosts may depend on the request
	writeJSON(w, info)
}

// hostOr returns the configured URL without a slash at its end, or the origin of
// the request.
func hostOr(configured string, r *http.Request) string {
	if configured != "" {
		return strings.TrimSuffix(configured, "/")
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host
}

func instanceOrganism(o *organism.Organism) InstanceOrganism {
	answer := InstanceOrganism{
		Schema:           InstanceSchema{OrganismName: o.DisplayName, PrimaryKey: primaryKey, Metadata: []InstanceField{}, TableColumns: []string{}},
		ReferenceGenomes: []InstanceSegment{},
	}
	for _, f := range o.Metadata {
		answer.Schema.Metadata = append(answer.Schema.Metadata, InstanceField{Name: f.Name, Type: f.Type, Required: f.Required})
		answer.Schema.TableColumns = append(answer.Schema.TableColumns, f.Name)
	}
	for _, segment := range o.Segments {
		answer.ReferenceGenomes = append(answer.ReferenceGenomes,
			InstanceSegment{Name: segment.Name, References: []InstanceReference{{Name: onlyReference}}})
	}
	return answer
}
