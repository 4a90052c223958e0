package seqlease

// Status is where an entry version stands, as everybody sees it. It is derived,
// never stored: released, else what the queue says of the current pipeline
// version. An entry whose lease has run out is RECEIVED again at that instant.
type Status string

// The statuses, in the order of an entry's life.
const (
	Received           Status = "RECEIVED"
	InProcessing       Status = "IN_PROCESSING"
	Processed          Status = "PROCESSED"
	ApprovedForRelease Status = "APPROVED_FOR_RELEASE"
)

// Statuses lists every status in the order of an entry's life.
func Statuses() []Status { return []Status{Received, InProcessing, Processed, ApprovedForRelease} }

// ProcessingResult is how preprocessing judged an entry version.
type ProcessingResult string

// The processing results, best first.
const (
	NoIssues    ProcessingResult = "NO_ISSUES"
	HasWarnings ProcessingResult = "HAS_WARNINGS"
	HasErrors   ProcessingResult = "HAS_ERRORS"
)

// ProcessingResults lists every processing result, best first.
func ProcessingResults() []ProcessingResult {
	return []ProcessingResult{NoIssues, HasWarnings, HasErrors}
}

// ApprovalScope says which processed entries an approval takes.
type ApprovalScope string

// The approval scopes; entries with errors are in neither.
const (
	ApproveAll             ApprovalScope = "ALL"
	ApproveWithoutWarnings ApprovalScope = "WITHOUT_WARNINGS"
)

// DeletionScope says which entries a deletion takes; none of them takes what is in
// processing or released.
type DeletionScope string

// The deletion scopes.
const (
	DeleteAll          DeletionScope = "ALL"
	DeleteWithErrors   DeletionScope = "PROCESSED_WITH_ERRORS"
	DeleteWithWarnings DeletionScope = "PROCESSED_WITH_WARNINGS"
)

// DeletionScopes lists every deletion scope, the widest first.
func DeletionScopes() []DeletionScope {
	return []DeletionScope{DeleteAll, DeleteWithErrors, DeleteWithWarnings}
}

// Takes says whether a deletion of the scope takes an entry that stands so. The
// result counts for processed entries only.
func (s DeletionScope) Takes(status Status, result ProcessingResult) bool {
	switch s {
	case DeleteAll:
		return status == Received || status == Processed
	case DeleteWithErrors:
		return status == Processed && result == HasErrors
	case DeleteWithWarnings:
		return status == Processed && result == HasWarnings
	default:
		return false
	}
}

// VersionStatus is where a released entry version stands among the released
// versions of its accession.
type VersionStatus string

// The version statuses.
const (
	LatestVersion VersionStatus = "LATEST_VERSION"
	Revised       VersionStatus = "REVISED"
	Revoked       VersionStatus = "REVOKED"
)
