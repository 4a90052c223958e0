package submission

// SharesExport says whether two downloads read the same spool file.
func (r *Release) SharesExport(other *Release) bool { return r.export == other.export }

// MaxPlainReaders is how many may read released data as text at once.
const MaxPlainReaders = maxPlainReaders
