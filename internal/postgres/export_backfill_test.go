package postgres

// The statements of a chunk whose plan is tested.
var (
	BackfillSQL         = backfillSQL
	BackfillSettingsSQL = backfillSettingsSQL
)
