package submission

// SharesExport says whether two downloads read the same spool file.
func (r *Release) SharesExport(other *Release) bool { return r.export == other.export }
