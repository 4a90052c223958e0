package seqlease

import "time"

// Action is a kind of change that the audit log keeps.
type Action string

// The actions of people on entries, groups and terms, of operators, and of the system
// itself.
const (
	ActionSubmit           Action = "submit"
	ActionRevise           Action = "revise"
	ActionRevoke           Action = "revoke"
	ActionEdit             Action = "edit"
	ActionApprove          Action = "approve"
	ActionDelete           Action = "delete"
	ActionExternalMetadata Action = "submit-external-metadata"
	ActionDataUseTerms     Action = "change-data-use-terms"
	ActionCreateGroup      Action = "create-group"
	ActionEditGroup        Action = "edit-group"
	ActionAddMember        Action = "add-member"
	ActionRemoveMember     Action = "remove-member"
	ActionPause            Action = "pause"
	ActionResume           Action = "resume"
	ActionFreeLeases       Action = "free-leases"
	ActionQuarantine       Action = "quarantine"
	ActionRequeue          Action = "requeue"
	ActionReprocess        Action = "reprocess"
	ActionDeleteAll        Action = "delete-all-sequence-data"
	ActionSwitch           Action = "switch-pipeline-version"
	ActionRetire           Action = "retire-pipeline-version"
)

// SystemUser is whom the audit log names for what the system did by itself.
const SystemUser = "system"

// Actions lists all of them, in the order in which people read of them.
func Actions() []Action {
	return []Action{
		ActionSubmit, ActionRevise, ActionRevoke, ActionEdit, ActionApprove, ActionDelete, ActionExternalMetadata,
		ActionDataUseTerms, ActionCreateGroup, ActionEditGroup, ActionAddMember, ActionRemoveMember, ActionPause, ActionResume,
		ActionFreeLeases, ActionQuarantine, ActionRequeue, ActionReprocess, ActionDeleteAll, ActionSwitch, ActionRetire,
	}
}

// AuditNote is one change for the audit log. Its instant is the database's (L11).
type AuditNote struct {
	User    string
	Action  Action
	GroupID int64 // 0: none
	// Named entries get a row each; the others are only counted.
	Named   []AccessionVersion
	Entries int64 // how many entries the call changed, where none is named
	// Detail says more for people, such as the name of who became a member. It holds
	// no metadata and no sequences.
	Detail string
}

// AuditEvent is one row of the audit log.
type AuditEvent struct {
	Number   int64 // ascends in the order of writing, with gaps
	At       time.Time
	User     string
	Action   Action
	Organism Organism // empty: none
	GroupID  int64    // 0: none
	// AccessionVersion is zero if the row is about a whole call.
	AccessionVersion
	Entries int64 // how many entries changed
	Detail  string
}
