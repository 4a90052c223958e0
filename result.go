package seqlease

// StoredResult is the document that is kept for a result, in the normal form of
// storage: metadata values, sequences that are null and empty insertion lists
// are left out; lists and maps are never null.
type StoredResult struct {
	Data     ProcessedData `json:"data"`
	Errors   []Annotation  `json:"errors"`
	Warnings []Annotation  `json:"warnings"`
}

// Packed is a document compressed for storage, with the dictionary that it
// takes to read it again.
type Packed struct {
	Dictionary int64 // id in the store; 0: none
	Bytes      []byte
}
