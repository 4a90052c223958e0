// Package auth turns a bearer token into the person it stands for. It keeps how
// tokens are issued and checked out of the HTTP door, which asks a [Verifier]
// and decides by the roles of the answer: tokens of the configuration ([Static])
// and those that an OpenID Connect provider issued ([OIDC]). It knows who the
// provider knows ([Directory]), and is a small provider itself, for trying things
// out ([DevIssuer]).
package auth
