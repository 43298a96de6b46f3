package config

import (
	"bytes"
	"strings"
	"testing"
)

func printed(t *testing.T, cfg *Config) string {
	t.Helper()
	var b bytes.Buffer
	if err := cfg.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhatIsPrintedLoadsAsTheSame(t *testing.T) {
	full := append([]byte(nil), withLeftOut(Example)...)
	for name, text := range map[string][]byte{"good": []byte(good(t)), "example": Example, "example with all": full} {
		cfg, err := Parse(name, text, "testdata")
		if err != nil {
			t.Fatal(err)
		}
		first := printed(t, cfg)
		again, err := Parse(name, []byte(first), "")
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, first)
		}
		if second := printed(t, again); second != first {
			t.Errorf("%s: printed\n%s\nthen\n%s", name, first, second)
		}
		if cfg.Hash() != again.Hash() {
			t.Errorf("%s: hash %08x, then %08x", name, cfg.Hash(), again.Hash())
		}
	}
}

func TestZeroWhereTheDefaultIsNotIsPrinted(t *testing.T) {
	for _, c := range [][3]string{
		{"level_unit: in", "temperature_decimals: 0", "temperature_decimals: 0"},
		{"truck_max: 200", "truck_max: 0", "truck_max: 0"},
		{"    unit: 1\n", "    unit: 0\n", "unit: 0"},
		{"every: 1h", "every: 0s", "every: 0s"},
		{"batch: {events: 20}", "batch: {events: 20, tag_values: 20, targets: 0}", "tag_values: 20"}, // written, it is no default
		{"batch: {events: 20}", "batch: {events: 20, tag_values: 20, targets: 0}", "targets: 0"},
		{"http:", "link: {rate: off}\nhttp:", "rate: off"},
	} {
		if got := printed(t, edited(t, c[0], c[1])); !strings.Contains(got, c[2]) {
			t.Errorf("%s is not in\n%s", c[2], got)
		}
	}
	cfg := edited(t, "loads: {min_load: 20}", "loads: {settle: 5m}")
	text := strings.Replace(good(t), "loads: {min_load: 20}", "loads: {settle: 5m}", 1)
	text = strings.Replace(text, "truck_max: 200", "settle: 0s", 1)
	own, err := Parse("gauger.yaml", []byte(text), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("gauger.yaml", []byte(printed(t, own)), "")
	if err != nil || again.Tanks[0].Loads.Settle != 0 || cfg.Tanks[0].Loads.Settle == 0 {
		t.Errorf("a tank's zero over the site's value: %v, %v", again.Tanks[0].Loads.Settle, err)
	}
}

func TestPrintedFileShowsWhereSecretsAre(t *testing.T) {
	t.Setenv("GAUGER_TEST_KEY", "hunter2")
	got := printed(t, edited(t, "{credential: primary-key}", "{env: GAUGER_TEST_KEY}"))
	for _, want := range []string{"env: GAUGER_TEST_KEY", "file: /etc/gauger/secondary-key", "credential: mqtt-password",
		"every: 10s", "confirm: 45m\n", "level_unit: in", "hold: 45m\n", "rate: 1\n", "bottom_temperature: 68\n", "max_gap_ticket: 24h\n", "verify: twice", "client_id: gauger-COOPER12-7-radio"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "hunter2") {
		t.Error("the secret itself is printed")
	}
}

func TestHashFollowsWhatMatters(t *testing.T) {
	base := edited(t, "log: {level: info}", "log: {level: info} # a comment").Hash()
	if got := edited(t, "http:", "http:  ").Hash(); got != base {
		t.Errorf("blanks and comments change the hash: %08x, %08x", got, base)
	}
	seen := map[uint32]string{base: "the file itself"}
	for _, c := range [][2]string{
		{"holding: 100", "holding: 102"}, {"bsw: 0.2", "bsw: 0.3"}, {"[120, 201.43]", "[120, 201.44]"},
		{"min_load: 20", "min_load: 21"}, {"purchaser: Acme", "purchaser: Bcme"}, {"credential: primary-key", "credential: other"},
	} {
		h := edited(t, c[0], c[1]).Hash()
		if other, twice := seen[h]; twice {
			t.Errorf("%s has the hash of %s", c[1], other)
		}
		seen[h] = c[1]
	}
}
