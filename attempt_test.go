package seqlease

import (
	"encoding/json"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

func TestNewAttemptID(t *testing.T) {
	t.Parallel()
	version4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[AttemptID]bool{}
	for range 1000 {
		id := NewAttemptID()
		if !version4.MatchString(id.String()) {
			t.Fatalf("%s is not a UUID of version 4", id)
		}
		if id.IsZero() || seen[id] {
			t.Fatalf("%s is zero or was drawn twice", id)
		}
		seen[id] = true
	}
}

func TestParseAttemptID(t *testing.T) {
	t.Parallel()
	want := AttemptID{0x0b, 0x7e, 0x4c, 0x3a, 0x96, 0xd1, 0x4f, 0x0e, 0x8a, 0x53, 0x2f, 0x6f, 0x0c, 0x1d, 0x9e, 0x77}
	for _, s := range []string{"0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e77", "0B7E4C3A-96D1-4F0E-8A53-2F6F0C1D9E77"} {
		got, err := ParseAttemptID(s)
		if err != nil || got != want {
			t.Errorf("%q: got %s and error %v, want %s", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "0b7e4c3a96d14f0e8a532f6f0c1d9e77", "0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e7", "0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e777",
		"0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e7g", "0b7e4c3a_96d1_4f0e_8a53_2f6f0c1d9e77", "{b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9e7}",
		"0b7e4c3a-96d1-4f0e-8a5-32f6f0c1d9e77", "0b7e4c3a-96d1-4f0e-8a53-2f6f0c1d9eé",
	} {
		if got, err := ParseAttemptID(s); err == nil || !got.IsZero() {
			t.Errorf("%q: got %s and error %v, want an error and no id", s, got, err)
		}
	}
}

func TestAttemptIDRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := AttemptID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		got, err := ParseAttemptID(id.String())
		if err != nil || got != id {
			t.Fatalf("%s was read as %s with error %v", id, got, err)
		}
		text, err := json.Marshal(id)
		if err != nil || string(text) != `"`+id.String()+`"` {
			t.Fatalf("in JSON %s is %s with error %v", id, text, err)
		}
		var read AttemptID
		if err := json.Unmarshal(text, &read); err != nil || read != id {
			t.Fatalf("%s was read as %s with error %v", text, read, err)
		}
	})
}

func TestBadAttemptIDInJSONLeavesTheOldOne(t *testing.T) {
	t.Parallel()
	want := NewAttemptID()
	got := want
	if err := json.Unmarshal([]byte(`"nonsense"`), &got); err == nil || got != want {
		t.Errorf("got %s and error %v, want an error and %s", got, err, want)
	}
}
