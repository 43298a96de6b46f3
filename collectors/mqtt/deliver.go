package mqtt

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"gauger/collectors"
)

const (
	// firstRetry and longestRetry bound the wait before something that the host did not take is offered again.
	firstRetry   = 100 * time.Millisecond
	longestRetry = 10 * time.Second
)

// delivery hands readings and refusals to the host.
type delivery struct{ host collectors.Host }

// deliver hands over until the host has taken everything; the error is the end of ctx. What the host does not take
// stays here, and behind it the queue and then the broker hold what comes: nothing is dropped.
func (d delivery) deliver(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) error {
	wait := firstRetry
	for {
		var err error
		if refused, err = d.handOver(ctx, refused, batch); err == nil {
			return nil
		}
		if !collectors.Wait(ctx, wait/2+rand.N(wait/2)) {
			return ctx.Err()
		}
		wait = min(wait*2, longestRetry)
	}
}

// handOver hands over once. It returns the refusals that are still to be kept, so that none is kept twice.
func (d delivery) handOver(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) ([]collectors.Refusal, error) {
	if len(refused) > 0 {
		if err := d.host.Refuse(ctx, refused); err != nil {
			return refused, err
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	return nil, d.host.Emit(ctx, batch)
}

// sortByTime puts the readings of each point in the order of their times, as far as they came together: a gateway that
// catches up sends the newest first, now and then.
func sortByTime(batch []collectors.Reading) {
	sorted := true
	for i := 1; i < len(batch) && sorted; i++ {
		sorted = !batch[i].At.Before(batch[i-1].At)
	}
	if sorted {
		return
	}
	places := map[collectors.Point][]int{}
	mixed := map[collectors.Point]bool{}
	for i, r := range batch {
		at := places[r.Point]
		if n := len(at); n > 0 && r.At.Before(batch[at[n-1]].At) {
			mixed[r.Point] = true
		}
		places[r.Point] = append(at, i)
	}
	for p := range mixed {
		sorted := make([]collectors.Reading, len(places[p]))
		for i, at := range places[p] {
			sorted[i] = batch[at]
		}
		sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].At.Before(sorted[j].At) })
		for i, at := range places[p] {
			batch[at] = sorted[i]
		}
	}
}

// blame hands over a Bad reading of each point. An error is the end of ctx, which the committer sees next.
func (c *committer) blame(ctx context.Context, points []*point, why error, now time.Time) {
	for _, p := range points {
		p.lostWithBroker = false
	}
	if len(points) > 0 {
		_ = c.delivery.deliver(ctx, nil, badReadings(points, now, why))
	}
}

// newRefusal keeps a message that could not be decoded whole.
func newRefusal(label string, a arrival, readings []collectors.Reading, why error) collectors.Refusal {
	r := collectors.Refusal{Device: label, Source: a.Topic(), Raw: a.Payload(), Err: why, At: a.at, Old: a.waited || a.Retained()}
	bad := map[collectors.Point]bool{}
	for _, x := range readings {
		bad[x.Point] = bad[x.Point] || x.Quality == collectors.Bad
	}
	for _, x := range readings {
		if x.Quality == collectors.Good && !bad[x.Point] && !slices.Contains(r.Given, x.Point) {
			r.Given = append(r.Given, x.Point)
		}
	}
	return r
}
