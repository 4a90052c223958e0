package submission

import "github.com/seqlease/seqlease"

// Note returns what the audit log says of the upload, which has made entries.
func (u Upload) Note(made []seqlease.SubmissionIDMapping) seqlease.AuditNote {
	return seqlease.AuditNote{
		User: u.Submitter, Action: seqlease.ActionSubmit, GroupID: u.GroupID, Entries: int64(len(made)), Detail: rangeOf(made),
	}
}

// Note returns what the audit log says of the revision, which has made entries. They
// may belong to several groups; groupID is 0 then.
func (r Revision) Note(made []seqlease.SubmissionIDMapping, groupID int64) seqlease.AuditNote {
	return seqlease.AuditNote{
		User: r.Submitter, Action: seqlease.ActionRevise, GroupID: groupID, Entries: int64(len(made)), Detail: rangeOf(made),
	}
}

// rangeOf names the first and the last accession version in order.
func rangeOf(made []seqlease.SubmissionIDMapping) string {
	if len(made) == 0 {
		return ""
	}
	first, last := made[0].AccessionVersion, made[0].AccessionVersion
	for _, m := range made[1:] {
		if m.Compare(first) < 0 {
			first = m.AccessionVersion
		}
		if m.Compare(last) > 0 {
			last = m.AccessionVersion
		}
	}
	if first == last {
		return first.String()
	}
	return first.String() + " to " + last.String()
}
