package submission

import (
	"slices"

	"github.com/seqlease/seqlease"
)

// Note returns what the audit log says of the upload, which has made entries.
func (u Upload) Note(made []seqlease.SubmissionIDMapping) seqlease.AuditNote {
	return noteOf(seqlease.AuditNote{User: u.Submitter, Action: seqlease.ActionSubmit, GroupID: u.GroupID}, versionsOf(made))
}

// Note returns what the audit log says of the revision, which has made entries. They
// may belong to several groups; groupID is 0 then.
func (r Revision) Note(made []seqlease.SubmissionIDMapping, groupID int64) seqlease.AuditNote {
	return noteOf(seqlease.AuditNote{User: r.Submitter, Action: seqlease.ActionRevise, GroupID: groupID}, versionsOf(made))
}

// Note returns what the audit log says of the revocations that were made.
func (r Revocation) Note(made []seqlease.SubmissionIDMapping) seqlease.AuditNote {
	return noteOf(seqlease.AuditNote{User: r.User, Action: seqlease.ActionRevoke}, versionsOf(made))
}

// Note returns what the audit log says of the approval, which released entries.
func (a Approval) Note(released []seqlease.AccessionVersion) seqlease.AuditNote {
	return noteOf(seqlease.AuditNote{User: a.Approver, Action: seqlease.ActionApprove}, released)
}

// noteOf completes a note of a call that changed the entries: one is named, of
// several the first and the last.
func noteOf(n seqlease.AuditNote, entries []seqlease.AccessionVersion) seqlease.AuditNote {
	switch len(entries) {
	case 0:
	case 1:
		n.Named = entries
	default:
		first := slices.MinFunc(entries, seqlease.AccessionVersion.Compare)
		last := slices.MaxFunc(entries, seqlease.AccessionVersion.Compare)
		n.Entries, n.Detail = int64(len(entries)), first.String()+" to "+last.String()
	}
	return n
}

func versionsOf(made []seqlease.SubmissionIDMapping) []seqlease.AccessionVersion {
	versions := make([]seqlease.AccessionVersion, len(made))
	for i, m := range made {
		versions[i] = m.AccessionVersion
	}
	return versions
}
