package witness_test

import (
	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// allowed are histories that a correct store may answer, though some look odd.
var allowed = map[string]tape{
	"nothing": {},
	"processed": {
		create(0, 5), read(6, 7, seqlease.Received), claim(10, 12, first, 1, 1000), read(13, 14, seqlease.InProcessing),
		submit(20, 25, first, "r1", witness.Stored), read(30, 31, seqlease.Processed), results(32, 33, first),
	},
	"claimed before the upload is answered": {
		create(0, 50), claim(10, 12, first, 1, 1000),
	},
	"repeated": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), submit(500, 505, first, "r1", witness.Stored),
	},
	"different": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), submit(30, 35, first, "r2", different),
	},
	"late": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(130, 135, first, "r1", leaseLost),
	},
	"around the end, in time": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(100, 135, first, "r1", witness.Stored),
	},
	"around the end, too late": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(100, 135, first, "r1", leaseLost),
	},
	"taken over": {
		create(0, 5), claim(10, 12, first, 1, 100), claim(120, 125, second, 2, 100), submit(130, 135, first, "r1", leaseLost), submit(140, 145, second, "r2", witness.Stored),
	},
	"good, but another line was refused": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Aborted), submit(30, 35, first, "r2", witness.Stored),
	},
	"renewed": {
		create(0, 5), claim(10, 12, first, 1, 100), renew(50, 55, first, 200), submit(200, 205, first, "r1", witness.Stored),
	},
	"renewed too late": {
		create(0, 5), claim(10, 12, first, 1, 100), refused(renew(150, 155, first, 200)), claim(160, 165, second, 2, 100),
	},
	"renewed by another user": {
		create(0, 5), claim(10, 12, first, 1, 100), byBob(refused(renew(50, 55, first, 200))),
	},
	"renewed after its result": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), renew(50, 55, first, 200),
	},
	"renewed without an answer, claimed after": {
		create(0, 5), claim(10, 12, first, 1, 100), unanswered(renew(50, 55, first, 200)), claim(120, 125, second, 2, 100),
	},
	"renewed without an answer, in time": {
		create(0, 5), claim(10, 12, first, 1, 100), unanswered(renew(50, 55, first, 200)), submit(180, 185, first, "r1", witness.Stored),
	},
	"given back": {
		create(0, 5), claim(10, 12, first, 1, 100), giveBack(20, 25, first, 1), claim(30, 35, second, 1, 100),
	},
	"given back, counted": {
		create(0, 5), claim(10, 12, first, 1, 100), counted(giveBack(20, 25, first, 1)), claim(30, 35, second, 2, 100),
	},
	"given back too late": {
		create(0, 5), claim(10, 12, first, 1, 100), giveBack(120, 125, first, 0), claim(130, 135, second, 2, 100),
	},
	"given back without an answer": {
		create(0, 5), claim(10, 12, first, 1, 1000), unanswered(giveBack(20, 25, first, 1)), claim(30, 35, second, 1, 100),
	},
	"given back without an answer, to no effect": {
		create(0, 5), claim(10, 12, first, 1, 1000), unanswered(giveBack(20, 25, first, 1)), submit(30, 35, first, "r1", witness.Stored),
	},
	"shortened": {
		create(0, 5), claim(10, 12, first, 1, 1000), shorten(21, 26, first, 50), claim(60, 65, second, 2, 100),
	},
	"submitted without an answer, then repeated": {
		create(0, 5), claim(10, 12, first, 1, 100), unanswered(submit(20, 25, first, "r1", witness.Stored)), submit(500, 505, first, "r1", witness.Stored),
	},
	"submitted without an answer, then refused": {
		create(0, 5), claim(10, 12, first, 1, 100), unanswered(submit(20, 25, first, "r1", witness.Stored)), submit(500, 505, first, "r1", leaseLost),
	},
	"claimed without an answer": {
		create(0, 5), unanswered(claim(10, 12, first, 1, 100)), read(20, 21, seqlease.InProcessing), claim(130, 135, second, 2, 100),
	},
	"by another user": {
		create(0, 5), claim(10, 12, first, 1, 100), byBob(submit(20, 25, first, "r1", leaseLost)),
	},
	"read as waiting after the end": {
		create(0, 5), claim(10, 12, first, 1, 100), read(120, 121, seqlease.Received),
	},
	"edited": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), edit(30, 35, "d1"), submit(40, 45, first, "r1", edited), retag(claim(50, 55, second, 1, 100), "d1"),
	},
	"not edited while waiting": {
		create(0, 5), refused(edit(10, 15, "d1")), claim(20, 25, first, 1, 100),
	},
	"deleted": {
		create(0, 5), remove(10, 15), submit(20, 25, first, "r1", notFound), read(30, 31, ""),
	},
	"deleted after the end": {
		create(0, 5), claim(10, 12, first, 1, 100), remove(120, 125), submit(130, 135, first, "r1", notFound),
	},
	"not deleted while held": {
		create(0, 5), claim(10, 12, first, 1, 100), refused(remove(20, 25)), submit(30, 35, first, "r1", witness.Stored),
	},
	"a read beside a submission sees it or not": {
		create(0, 5), claim(10, 12, first, 1, 1000), submit(20, 50, first, "r1", witness.Stored), read(25, 26, seqlease.Processed), read(27, 28, seqlease.Processed),
	},
	"attempts used up": {
		create(0, 5), claim(10, 12, first, 1, 10), claim(30, 32, second, 2, 10), claim(50, 52, third, 3, 10), read(70, 71, seqlease.Received), read(80, 81, seqlease.Processed), results(82, 83, seqlease.AttemptID{9}), edit(90, 91, "d2"),
	},
	"freed": {
		create(0, 5), claim(10, 12, first, 1, 100), free(20, 25, first, 1), submit(30, 35, first, "r1", leaseLost), claim(40, 45, second, 2, 100),
	},
	"freed, but too late": {
		create(0, 5), claim(10, 12, first, 1, 100), free(120, 125, first, 0), claim(130, 135, second, 2, 100),
	},
	"read beside a renewal": {
		create(0, 5), claim(10, 12, first, 1, 100), renew(100, 120, first, 100), read(105, 118, seqlease.Received), read(125, 126, seqlease.InProcessing),
	},
	"requeued": {
		create(0, 5), claim(10, 12, first, 1, 10), claim(30, 32, second, 2, 10), claim(50, 52, third, 3, 10), read(80, 81, seqlease.Processed),
		requeue(90, 95), read(96, 97, seqlease.Received), claim(100, 105, seqlease.AttemptID{4}, 1, 100),
	},
	"hand-outs used up": {
		create(0, 5), claim(10, 12, first, 1, 100), giveBack(13, 14, first, 1), claim(20, 22, second, 1, 100), giveBack(23, 24, second, 1), claim(30, 32, third, 1, 100), giveBack(33, 34, third, 1), read(40, 41, seqlease.Processed),
	},
	"cut by an edit for the sake of another place": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), second2(claim(30, 32, second, 1, 1000)), edit(40, 45, "d1"), second2(lostIn(renew(50, 55, second, 1000))), second2(submit(60, 65, second, "r1", edited)),
	},
	"quarantined by an operator while it waits": {
		create(0, 5), quarantine(10, 15, 1), read(20, 21, seqlease.Processed), quarantine(22, 23, 0), results(24, 25, seqlease.AttemptID{9}),
	},
	"quarantined while held": {
		create(0, 5), claim(10, 12, first, 1, 1000), quarantine(20, 25, 1), lostIn(renew(30, 35, first, 1000)), submit(40, 45, first, "r1", leaseLost),
	},
	"quarantined about the end of the lease": {
		create(0, 5), claim(10, 12, first, 1, 20), quarantine(20, 35, 1), refused(renew(40, 45, first, 1000)),
	},
	"quarantined, requeued": {
		create(0, 5), claim(10, 12, first, 1, 1000), quarantine(20, 25, 1), requeue(30, 35), claim(40, 45, second, 1, 100),
	},
	"quarantined, edited": {
		create(0, 5), quarantine(10, 15, 1), edit(20, 25, "d1"), retag(claim(30, 35, first, 1, 100), "d1"),
	},
	"not quarantined, since it was edited meanwhile": {
		create(0, 5), quarantine(10, 15, 1), edit(20, 40, "d1"), quarantine(22, 50, 0), retag(claim(60, 65, first, 1, 100), "d1"),
	},
	"reprocessed": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), reprocess(30, 35, 1), read(36, 37, seqlease.Processed), results(38, 39, first),
		claim(40, 45, second, 1, 100), read(46, 47, seqlease.Processed), submit(50, 51, first, "r1", witness.Stored), submit(52, 55, second, "r2", witness.Stored), results(60, 61, second), submit(62, 65, first, "r1", leaseLost),
	},
	"reprocessed while it waits again": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), reprocess(30, 35, 1), reprocess(40, 45, 0),
	},
	"reprocessed from quarantine": {
		create(0, 5), quarantine(10, 15, 1), reprocess(20, 25, 1), read(26, 27, seqlease.Processed), claim(30, 35, first, 1, 100), submit(40, 45, first, "r1", witness.Stored), results(50, 51, first),
	},
	"reprocessed, used up, and reprocessed": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), reprocess(30, 35, 1),
		claim(40, 42, second, 1, 10), claim(60, 62, third, 2, 10), claim(80, 82, seqlease.AttemptID{4}, 3, 10), reprocess(100, 105, 1), results(106, 107, first), claim(110, 115, seqlease.AttemptID{5}, 1, 100),
	},
	"reprocessed, then quarantined beside its result": {
		create(0, 5), claim(10, 12, first, 1, 100), submit(20, 25, first, "r1", witness.Stored), reprocess(30, 35, 1), quarantine(40, 45, 1), results(46, 47, first), requeue(50, 55), claim(60, 65, second, 1, 100),
	},
	"paused": {
		create(0, 5), call(witness.Pause, 6, 8), call(witness.Claim, 10, 12), call(witness.Resume, 20, 25), claim(22, 30, first, 1, 100),
	},
}
