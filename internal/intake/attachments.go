package intake

import (
	"slices"

	"github.com/seqlease/seqlease/internal/organism"
)

// AttachmentFault says why the number of attachments of a category can't be submitted, or
// "": no server takes any, and the category must be one of the organism's even if it is empty.
func AttachmentFault(o *organism.Organism, category string, n int) string {
	switch {
	case !slices.Contains(o.SubmittedFileCategories, category):
		return "the organism has no category of attachments " + quoted(category) + ", and this server takes no attachments"
	case n > 0:
		return "the category " + quoted(category) + " has attachments, which this server doesn't take"
	default:
		return ""
	}
}
