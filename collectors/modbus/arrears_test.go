package modbus

import "testing"

func TestStepsAreOfALengthThatIsNotOwed(t *testing.T) {
	for _, tt := range []struct {
		asked Request
		owed  []Request
		want  Request
	}{
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 2}}, Request{1, Holding, 100, 1}},
		{Request{1, Holding, 100, 1}, []Request{{1, Holding, 0, 1}}, Request{1, Holding, 100, 2}},
		{Request{1, Holding, 65535, 1}, []Request{{1, Holding, 0, 2}, {1, Holding, 0, 1}}, Request{1, Holding, 65533, 3}},
		{Request{1, EnronHolding, 100, 1}, []Request{{1, Holding, 0, 2}}, Request{1, EnronHolding, 100, 2}},
		{Request{1, Coil, 12, 1}, []Request{{1, Coil, 12, 8}}, Request{1, Coil, 12, 9}},
		{Request{1, Discrete, 12, 20}, []Request{{1, Discrete, 12, 20}, {1, Coil, 12, 1}}, Request{1, Discrete, 12, 1}},
		// The last one that is owed is asked for again: what it proves it proves once more.
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 2}, {1, Holding, 0, 1}, {1, Holding, 0, 1}}, Request{1, Holding, 100, 1}},
		{Request{1, Holding, 100, 2}, []Request{{1, Holding, 0, 1}, {1, Holding, 0, 2}}, Request{1, Holding, 100, 3}},
	} {
		var debt arrears
		for _, r := range tt.owed {
			debt.sent(r)
		}
		if !debt.owes(tt.asked) && tt.asked.Table != Coil {
			t.Errorf("%+v is not owed by %+v", tt.asked, debt)
		}
		if got := debt.inStep(tt.asked, nil); got != tt.want {
			t.Errorf("%+v owing %+v: %+v, want %+v", tt.asked, tt.owed, got, tt.want)
		}
	}
}

func TestWhatAnAnswerProves(t *testing.T) {
	one, two, three := Request{1, Holding, 0, 1}, Request{1, Holding, 0, 2}, Request{1, Holding, 0, 3}
	coil := Request{1, Coil, 0, 1}
	for _, tt := range []struct {
		name    string
		sent    []Request
		came    Request
		refusal bool
		left    []Request // that are still owed
		gone    []Request
	}{
		{"data proves that all before it is gone", []Request{one, two, three}, three, false, nil, []Request{one, two, three}},
		{"but it may be the first of its run", []Request{two, one, one}, one, false, []Request{one}, []Request{two}},
		{"a refusal may be the first answer of all", []Request{two, one}, one, true, []Request{one}, []Request{two}},
		{"to the same table", []Request{coil, two, one}, one, true, []Request{one}, []Request{coil, two}},
	} {
		var debt arrears
		for _, r := range tt.sent {
			debt.sent(r)
		}
		debt.came(tt.came, tt.refusal)
		for _, r := range tt.left {
			if !debt.owes(r) {
				t.Errorf("%s: %+v is no longer owed", tt.name, r)
			}
		}
		for _, r := range tt.gone {
			if debt.owes(r) {
				t.Errorf("%s: %+v is still owed", tt.name, r)
			}
		}
	}
}
