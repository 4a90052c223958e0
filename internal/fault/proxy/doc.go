// Package proxy is a network that misbehaves: a TCP proxy before a server,
// which delays, drops, cuts, repeats and resets what passes. It keeps the bytes
// of a request as they came, so that a repetition is exact.
package proxy
