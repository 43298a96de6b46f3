package line

import "testing"

// A line's URL in a command that is told is one word for a shell.
func TestTheCommandThatIsAdvisedCanBePasted(t *testing.T) {
	for url, want := range map[string]string{
		"tcp://10.20.0.5:502":                        "`gauger scan tcp://10.20.0.5:502` finds the unit ids that answer",
		"rtu:///dev/ttyS0?baud=9600&parity=E&stop=1": "`gauger scan 'rtu:///dev/ttyS0?baud=9600&parity=E&stop=1'` finds the unit ids that answer",
	} {
		if got := Advice(ErrSilent, url); got != want {
			t.Errorf("%s", got)
		}
	}
}
