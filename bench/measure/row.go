package measure

// Row is a line of the table.
type Row struct {
	// Name says what was measured.
	Name string `json:"row"`
	// Target is what is demanded, such as "≥ 0.35, aim 0.5"; empty: nothing, the row informs.
	Target string `json:"target"`
	// Figure is the median of the rounds.
	Figure float64 `json:"figure"`
	// Met says whether the target is met; a row without a target is.
	Met bool `json:"met"`
	// AimMet says whether the aim is reached too, where there is one.
	AimMet *bool `json:"aimMet,omitempty"`
	// Unit is that of Figure, such as "×", "s", "B"; Low and High are over the rounds.
	Unit   string  `json:"unit"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Rounds int     `json:"rounds"`
	// Note says under what circumstances, or why there is no figure.
	Note string `json:"note,omitempty"`
}

// Inform is a row without a target.
func Inform(name string, s Spread, unit, note string) Row {
	return Row{Name: name, Figure: s.Median, Low: s.Low, High: s.High, Rounds: s.Rounds, Unit: unit, Met: true, Note: note}
}

// AtLeast is a row whose figure is to be target or more. An aim of 0 is none.
func AtLeast(name string, s Spread, target, aim float64, unit, note string) Row {
	r := Inform(name, s, unit, note)
	r.Target, r.Met = "≥ "+short(target)+after(unit), s.Median >= target
	return r.aimed(aim, s.Median >= aim)
}

// AtMost is a row whose figure is to be target or less. An aim of 0 is none.
func AtMost(name string, s Spread, target, aim float64, unit, note string) Row {
	r := Inform(name, s, unit, note)
	r.Target, r.Met = "≤ "+short(target)+after(unit), s.Median <= target
	return r.aimed(aim, s.Median <= aim)
}

// Below is a row whose figure is to be less than target. An aim of 0 is none.
func Below(name string, s Spread, target, aim float64, unit, note string) Row {
	r := Inform(name, s, unit, note)
	r.Target, r.Met = "< "+short(target)+after(unit), s.Median < target
	return r.aimed(aim, s.Median <= aim)
}

func (r Row) aimed(aim float64, met bool) Row {
	if aim != 0 {
		r.Target += ", aim " + short(aim)
		r.AimMet = &met
	}
	return r
}

func after(unit string) string {
	if unit == "" {
		return ""
	}
	return " " + unit
}
