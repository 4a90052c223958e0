package seqcodec

import "github.com/klauspost/compress/zstd"

// DocumentSize returns how many bytes the document of a frame has, without
// decompressing it: 0 for no frame, and [MaxDocument] for one that doesn't say so, as
// of damaged bytes.
func DocumentSize(frame []byte) int64 {
	if len(frame) == 0 {
		return 0
	}
	var header zstd.Header
	if err := header.Decode(frame); err != nil || !header.HasFCS || header.FrameContentSize > MaxDocument {
		return MaxDocument
	}
	return int64(header.FrameContentSize)
}
