// Package auth turns a bearer token into the person it stands for. It keeps how
// tokens are issued and checked out of the HTTP door, which asks a [Verifier]
// and decides by the roles of the answer.
package auth
