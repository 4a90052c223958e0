// Package measure runs experiments and says whether their targets are met. An
// experiment is a few contenders that do the same work: they run in turn, round
// after round, on one machine, so that what disturbs one disturbs the others too.
// Only ratios within a round are compared. A row is the median of its rounds, or the
// worst of them where it is about what was longest.
package measure
