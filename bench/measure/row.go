package measure

// Row is a line of the table.
type Row struct {
	// Name says what was measured, and is of this row alone.
	Name string `json:"row"`
	// Target is what is demanded, such as "≥ 0.35, aim 0.5"; empty: nothing, the row informs.
	Target string `json:"target"`
	// Figure is the median of the rounds, or the worst of them.
	Figure float64 `json:"figure"`
	// Met says whether the target is met; null: there is none.
	Met *bool `json:"met"`
	// AimMet says whether the aim is reached too, where there is one.
	AimMet *bool `json:"aimMet,omitzero"`
	// Worst says that Figure is the worst of the rounds.
	Worst bool `json:"worst,omitzero"`
	// Mixed says that some rounds met the target and others didn't.
	Mixed bool `json:"mixed,omitzero"`
	// Promise is the promise of the design that the target belongs to; 0: none.
	Promise Promise `json:"promise,omitzero"`
	// Unit is that of Figure, such as "×", "s", "B"; Low and High are over the rounds.
	Unit   string  `json:"unit"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
	// Note says under what circumstances, or why there is no figure.
	Note string `json:"note,omitzero"`
	// Commit is that of the code that was measured, see the function Commit.
	Commit string `json:"commit,omitzero"`
}

// Inform is a row without a target.
func Inform(name string, s Spread, unit, note string) Row {
	return Row{Name: name, Figure: s.Figure, Low: s.Low, High: s.High, Rounds: s.Rounds, Worst: s.Worst, Unit: unit, Note: note}
}

// AtLeast is a row whose figure is to be target or more. An aim of 0 is none.
func AtLeast(name string, s Spread, target, aim float64, unit, note string) Row {
	return aimed(name, s, "≥ ", target, aim, unit, note, func(v, limit float64) bool { return v >= limit })
}

// AtMost is a row whose figure is to be target or less. An aim of 0 is none.
func AtMost(name string, s Spread, target, aim float64, unit, note string) Row {
	return aimed(name, s, "≤ ", target, aim, unit, note, func(v, limit float64) bool { return v <= limit })
}

// Below is a row whose figure is to be less than target. An aim of 0 is none.
func Below(name string, s Spread, target, aim float64, unit, note string) Row {
	return aimed(name, s, "< ", target, aim, unit, note, func(v, limit float64) bool { return v < limit })
}

func aimed(name string, s Spread, sign string, target, aim float64, unit, note string, keeps func(v, limit float64) bool) Row {
	r := Inform(name, s, unit, note)
	met := keeps(s.Figure, target)
	r.Target, r.Met, r.Mixed = sign+short(target)+after(unit), &met, keeps(s.Low, target) != keeps(s.High, target)
	if aim != 0 {
		reached := keeps(s.Figure, aim)
		r.Target += ", aim " + short(aim)
		r.AimMet = &reached
	}
	return r
}

// Of says which promise of the design the target belongs to.
func (r Row) Of(p Promise) Row {
	r.Promise = p
	return r
}

func after(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}
