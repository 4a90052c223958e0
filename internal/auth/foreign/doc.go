// Package foreign holds internal/auth against other people's OpenID Connect: tokens of
// two providers, one of which signs with another library, and a client that reads the
// built-in issuer. It is a module of its own, so that what they need stays out of the
// product.
package foreign
