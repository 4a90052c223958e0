package intake

// Entry is one checked entry of an upload.
type Entry struct {
	SubmissionID string
	Data         []byte // JSON document of a seqlease.SubmittedData
}
