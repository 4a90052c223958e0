package seqlease

import "time"

// NewGroup describes a submitting group before it has an id. Every text may be
// empty and has at most 255 characters.
type NewGroup struct {
	GroupName    string  `json:"groupName"`
	Institution  string  `json:"institution"`
	Address      Address `json:"address"`
	ContactEmail string  `json:"contactEmail"`
}

// Address is a postal address.
type Address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

// Group is a submitting group: entries belong to it, and its members act for it.
type Group struct {
	GroupID int64 `json:"groupId"`
	NewGroup
}

// TermsType is how the data of an accession may be used.
type TermsType string

// The data use terms.
const (
	TermsOpen       TermsType = "OPEN"
	TermsRestricted TermsType = "RESTRICTED"
)

// DataUseTerms are the terms of an accession. RestrictedUntil is a day (midnight
// UTC) and set only for [TermsRestricted].
type DataUseTerms struct {
	Type            TermsType
	RestrictedUntil time.Time
}

// String returns "OPEN" or "RESTRICTED until 2027-02-28".
func (t DataUseTerms) String() string {
	if t.Type != TermsRestricted {
		return string(t.Type)
	}
	return string(t.Type) + " until " + t.RestrictedUntil.UTC().Format(time.DateOnly)
}

// Person is who a request comes from, as the identity provider says.
type Person struct {
	Name  string
	Roles []Role
}

// Role is what a person may do beyond acting for their own groups.
type Role string

// The roles that are evaluated. [SuperUser] doesn't include the other two.
const (
	PreprocessingPipeline   Role = "preprocessing_pipeline"
	ExternalMetadataUpdater Role = "external_metadata_updater"
	SuperUser               Role = "super_user"
)

// Has says whether the person has the role.
func (p Person) Has(role Role) bool {
	for _, r := range p.Roles {
		if r == role {
			return true
		}
	}
	return false
}
