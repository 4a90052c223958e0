// Package storetest is the law for stores: a conformance suite that every store
// runs from its own tests, with one case for each rule, named by the rule. It
// also holds the fixtures that those cases share, and a model in the plainest
// words with which random sequences of calls are compared ([RunModel]). A case
// gets a fresh store and never waits: time passes by shifting what is stored into
// the past. Only _test files import it.
package storetest
