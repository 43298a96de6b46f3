package main

import (
	"testing"
	"testing/synctest"
	"time"

	"gauger/config"
)

// paced counts how long n requests take.
func paced(t *testing.T, p *pace, n int) time.Duration {
	t.Helper()
	begin := time.Now()
	for range n {
		if err := p.wait(t.Context(), "tickets"); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(begin)
}

func toward(url string, rate config.Rate) *pace {
	return paceOf(&config.Config{Service: config.Service{URL: url}, Link: config.Link{Rate: rate}})
}

func TestPaceLeavesABurstAndThenTheConfiguredRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := toward("https://api.example.com", 2)
		if got := paced(t, p, burst); got != 0 {
			t.Errorf("the first %d requests waited %s", burst, got)
		}
		if got := paced(t, p, 10); got != 5*time.Second {
			t.Errorf("ten more at two a second took %s, want 5s", got)
		}
	})
}

func TestPaceHoldsNothingBackTowardTheBoxItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []*pace{toward("http://127.0.0.1:8080", 1), toward("https://api.example.com", 0)} {
			p.backlog(1000, time.Now())
			if got := paced(t, p, 100); got != 0 {
				t.Errorf("a hundred requests waited %s", got)
			}
		}
	})
}

func TestABacklogAfterABootIsSpreadButItsFirstRequestIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := toward("https://api.example.com", 1000)
		p.backlog(500, time.Now())
		p.hold = time.Now().Add(20 * time.Second) // whatever chance made of it, at most a minute
		if got := paced(t, p, 1); got != 0 {
			t.Errorf("the first request waited %s", got)
		}
		if got := paced(t, p, 1); got != 20*time.Second {
			t.Errorf("the second waited %s, want 20s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := toward("https://api.example.com", 1000)
		p.backlog(1, time.Now())
		if got := paced(t, p, 3); got != 0 {
			t.Errorf("three requests without a backlog waited %s", got)
		}
	})
}
