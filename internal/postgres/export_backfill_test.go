package postgres

// The statements of a chunk whose plan is tested.
var (
	FindBackfillSQL     = findBackfillSQL
	BackfillSettingsSQL = backfillSettingsSQL
)
