package postgres

// The statements by which changes are counted and told.
var (
	BumpSQL         = bumpSQL
	ReleasedMarkSQL = releasedMarkSQL
	ReleasedHeadSQL = releasedHeadSQL
)
