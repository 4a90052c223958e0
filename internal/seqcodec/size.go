package seqcodec

import "github.com/klauspost/compress/zstd"

// unsaidSize is the largest document whose frame may leave its size out: the library
// writes it from 256 bytes on.
const unsaidSize = 255

// DocumentSize returns how many bytes the document of a frame has, without
// decompressing it, or a bound for that: 255 for a small one whose frame doesn't say, and
// [MaxDocument] for what is no frame of [Codec.Encode]. No frame has 0.
func DocumentSize(frame []byte) int64 {
	if len(frame) == 0 {
		return 0
	}
	var header zstd.Header
	switch err := header.Decode(frame); {
	case err != nil:
		return MaxDocument
	case header.HasFCS:
		return int64(min(header.FrameContentSize, MaxDocument))
	case len(frame) <= 2*unsaidSize:
		return unsaidSize
	default:
		return MaxDocument
	}
}
