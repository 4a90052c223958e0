// Package httpapi is the door: it speaks the HTTP protocol and calls the domain
// rooms. It keeps routes, roles, limits, decoding, streaming and statuses out of
// them. openapi.yaml is the source of its routes, parameters and roles, from
// which api.gen.go is made; problem.go is the only place that knows which error
// is which status. cmd/seqlease builds it with [New] and serves it with [NewServer].
package httpapi

//go:generate oapi-codegen -config oapi-codegen.yaml openapi.yaml
