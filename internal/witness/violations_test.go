package witness_test

import (
	"slices"

	"github.com/seqlease/seqlease"
	"github.com/seqlease/seqlease/internal/witness"
)

// violation is a history with one fault, at its end.
type violation struct {
	before tape
	more   []witness.Event
	fact   string // part of what Facts says; empty: it needs the search
}

var (
	held = tape{create(0, 5), claim(10, 12, first, 1, 100)}
	done = slices.Concat(held, tape{submit(20, 25, first, "r1", witness.Stored)})
)

// violations are named by the rules that they break.
var violations = map[string]violation{
	"L1 waiting though nothing was created":        {nil, tape{claim(10, 12, first, 1, 100), create(20, 25)}, ""},
	"L2 two attempts hold it":                      {held, tape{claim(20, 25, second, 2, 100)}, "is held until"},
	"L2 two attempts hold it for a moment":         {held, tape{claim(95, 105, second, 2, 100)}, ""},
	"L2 claimed though it is processed":            {done, tape{claim(30, 35, second, 2, 100)}, ""},
	"L3 late result stored":                        {held, tape{submit(120, 125, first, "r1", witness.Stored)}, "after the end of its lease"},
	"L3 result stored after the takeover":          {held, tape{claim(120, 125, second, 2, 100), submit(130, 135, first, "r1", witness.Stored)}, "after the end of its lease"},
	"L3 result of two attempts":                    {held, tape{claim(120, 125, second, 2, 100), submit(130, 135, second, "r1", witness.Stored), submit(105, 145, first, "r1", witness.Stored)}, "results of 2 attempts"},
	"L3 result of an attempt that claimed nothing": {held, tape{submit(20, 25, third, "r1", witness.Stored)}, "claimed nothing"},
	"L3 result of another user":                    {held, tape{byBob(submit(20, 25, first, "r1", witness.Stored))}, ""},
	"L3 result stored after it was given back":     {held, tape{giveBack(20, 25, first, 1), submit(30, 35, first, "r1", witness.Stored)}, ""},
	"L3 holder refused":                            {held, tape{submit(20, 25, first, "r1", leaseLost)}, ""},
	"L3 holder refused after a renewal":            {held, tape{renew(50, 55, first, 500), submit(200, 205, first, "r1", leaseLost)}, ""},
	"L3 shortened lease still takes results":       {held, tape{shorten(20, 25, first, 40), submit(50, 55, first, "r1", witness.Stored)}, ""},
	"L4 waits though its lease runs":               {held, tape{read(20, 21, seqlease.Received)}, ""},
	"L4 in processing after the end":               {held, tape{read(120, 121, seqlease.InProcessing)}, "is lost"},
	"L5 good line named as lost":                   {held, tape{submit(20, 25, first, "r1", edited)}, ""},
	"L5 bad line not named":                        {held, tape{submit(130, 135, first, "r1", witness.Aborted)}, ""},
	"L5 refused submission stored something":       {held, tape{submit(20, 25, first, "r1", witness.Aborted), read(30, 31, seqlease.Processed)}, ""},
	"L6 repetition refused":                        {done, tape{submit(30, 35, first, "r1", leaseLost)}, ""},
	"L6 other result taken as a repetition":        {done, tape{submit(30, 35, first, "r2", witness.Stored)}, ""},
	"L6 repetition called different":               {done, tape{submit(30, 35, first, "r1", different)}, ""},
	"L7 ended lease revived":                       {held, tape{renew(150, 155, first, 100)}, ""},
	"L7 running lease not renewed":                 {held, tape{refused(renew(50, 55, first, 100))}, ""},
	"L7 another user's lease renewed":              {held, tape{byBob(renew(50, 55, first, 100))}, ""},
	"L7 renewal lost":                              {held, tape{renew(50, 55, first, 500), claim(120, 125, second, 2, 100)}, ""},
	"L7 told as lost though held":                  {held, tape{lostIn(renew(50, 55, first, 100))}, ""},
	"L8 given back, but not claimable":             {held, tape{giveBack(20, 25, first, 1), read(30, 31, seqlease.InProcessing)}, "is lost"},
	"L8 holder can't give back":                    {held, tape{giveBack(20, 25, first, 0)}, ""},
	"L8 given back after the end":                  {held, tape{giveBack(120, 125, first, 1)}, ""},
	"L8 giving back costs an attempt":              {held, tape{giveBack(20, 25, first, 1), claim(30, 35, second, 2, 100)}, ""},
	"L9 attempt not counted":                       {held, tape{claim(120, 125, second, 1, 100)}, ""},
	"L9 one attempt too many":                      {held, tape{claim(120, 122, second, 2, 10), claim(140, 142, third, 3, 10), claim(160, 162, seqlease.AttemptID{4}, 4, 10)}, ""},
	"L9 quarantined too early":                     {held, tape{read(120, 121, seqlease.Processed)}, ""},
	"L9 quarantined while the last attempt runs":   {held, tape{claim(120, 122, second, 2, 10), claim(140, 142, third, 3, 100), read(160, 161, seqlease.Processed)}, ""},
	"L10 old data claimed":                         {done, tape{edit(30, 35, "d1"), claim(40, 45, second, 1, 100)}, ""},
	"L10 old result stored":                        {done, tape{edit(30, 35, "d1"), submit(40, 45, first, "r1", witness.Stored)}, ""},
	"L10 old result called lost":                   {done, tape{edit(30, 35, "d1"), submit(40, 45, first, "r1", leaseLost)}, ""},
	"L10 result survives an edit":                  {done, tape{edit(30, 35, "d1"), results(40, 45, first)}, ""},
	"L10 edited while waiting":                     {held, tape{edit(30, 35, "d1")}, ""},
	"L10 processed, but can't be edited":           {done, tape{refused(edit(30, 35, "d1"))}, ""},
	"L10 deleted while held":                       {held, tape{remove(20, 25)}, ""},
	"L10 deleted, but claimed":                     {tape{create(0, 5)}, tape{remove(10, 15), claim(20, 25, first, 1, 100)}, ""},
	"L10 deleted, but there":                       {tape{create(0, 5)}, tape{remove(10, 15), read(20, 25, seqlease.Received)}, "was deleted"},
	"L16 freed, but result stored":                 {held, tape{free(20, 25, first, 1), submit(30, 35, first, "r1", witness.Stored)}, ""},
	"L16 a running lease not freed":                {held, tape{free(20, 25, first, 0), claim(30, 35, second, 2, 100)}, ""},
	"L16 freeing costs no attempt":                 {held, tape{free(20, 25, first, 1), claim(30, 35, second, 1, 100)}, ""},
	"L16 freed, not told as lost":                  {held, tape{free(20, 25, first, 1), renew(30, 35, first, 100)}, ""},
	"L16 requeued too early":                       {held, tape{requeue(120, 125)}, ""},
	"L16 requeued though it is processed":          {done, tape{requeue(120, 125)}, ""},
	"nothing accepted is lost":                     {done, tape{results(30, 35, seqlease.AttemptID{})}, ""},
	"no result is replaced":                        {done, tape{results(30, 35, second)}, ""},
	"released is what was accepted":                {done, tape{call(witness.Released, 30, 35, witness.Part{Tag: "r2"})}, ""},
	"an entry vanishes":                            {done, tape{read(30, 35, "")}, "is lost"},
	"an answered claim isn't forgotten":            {held, tape{claim(60, 65, second, 1, 100)}, "is held until"},
	"L16 claimed though it is in quarantine":       {held, tape{quarantine(20, 25, 1), claim(30, 35, second, 1, 100)}, ""},
	"L16 quarantined, but result stored":           {held, tape{quarantine(20, 25, 1), submit(30, 35, first, "r1", witness.Stored)}, ""},
	"L16 quarantined, not told as lost":            {held, tape{quarantine(20, 25, 1), renew(30, 35, first, 100)}, ""},
	"L16 quarantined, but waits":                   {held, tape{quarantine(20, 25, 1), read(30, 31, seqlease.Received)}, "is lost"},
	"L16 quarantined though it is processed":       {done, tape{quarantine(30, 35, 1)}, ""},
	"L16 not quarantined though it is held":        {held, tape{quarantine(20, 25, 0)}, ""},
	"L16 in quarantine, but not requeued":          {held, tape{quarantine(20, 25, 1), refusedRequeue(30, 35)}, ""},
	"L16 in quarantine without a result":           {held, tape{quarantine(20, 25, 1), results(30, 35, seqlease.AttemptID{})}, ""},
	"L16 quarantine replaces a good result":        {done, tape{reprocess(30, 35, 1), quarantine(40, 45, 1), results(50, 55, third)}, ""},
	"L16 requeued with its attempts":               {held, tape{quarantine(20, 25, 1), requeue(30, 35), claim(40, 45, second, 2, 100)}, ""},
	"V9 reprocessed before it is processed":        {held, tape{reprocess(20, 25, 1)}, ""},
	"V9 processed, but not reprocessed":            {done, tape{reprocess(30, 35, 0)}, ""},
	"V9 the old result is gone":                    {done, tape{reprocess(30, 35, 1), results(40, 45, seqlease.AttemptID{})}, ""},
	"V9 shown as waiting":                          {done, tape{reprocess(30, 35, 1), read(40, 45, seqlease.Received)}, "is lost"},
	"V9 the old result is repeated, but refused":   {done, tape{reprocess(30, 35, 1), claim(40, 42, second, 1, 100), submit(50, 55, first, "r1", leaseLost)}, ""},
	"V9 reprocessed twice at once":                 {done, tape{reprocess(30, 35, 1), claim(40, 42, second, 1, 100), claim(50, 52, third, 1, 100)}, "is held until"},
	"V9 reprocessed once, accepted twice":          {done, tape{reprocess(30, 35, 1), claim(40, 42, second, 1, 10), submit(43, 44, second, "r2", witness.Stored), claim(60, 62, third, 1, 100), submit(63, 64, third, "r3", witness.Stored)}, "reprocessed 1 times"},
}
