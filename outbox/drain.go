package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	firstWait = 500 * time.Millisecond
	// firstProbe is the first wait while records are refused and there is no evidence that they are to blame.
	firstProbe = time.Minute
	// Half as long again each time: after an outage of two minutes the next attempt is at most one more away.
	waitGrowth = 1.5
	// The jitter of half comes on top of these, so the longest waits are 8 and 15 min. Ten thousand boxes before a
	// closed door make 31 requests a second.
	waitCap = 320 * time.Second
	keyCap  = 10 * time.Minute
	// stallAfter: somebody is told when nothing was taken for so long.
	stallAfter = 10 * time.Minute
	// clockCheck: so often the clock is asked whether a parked record's day is over.
	clockCheck = time.Minute
)

// drain is the state of one stream's Drain; only its goroutine touches it.
type drain struct {
	b  *Box
	s  *stream
	to Sender

	sameAgain []uint64   // an ambiguous batch: the same records go together again
	halves    [][]uint64 // of a refused batch, still to be sent
	poison    poisonDetector
	breaker   breaker
	lookAgain bool // nothing was chosen, but looking again is worth it

	lastAnswer Answer // that did not take its records, for the words of a note

	newestTurn bool // the last request was for the newest record's address, since others were refused
	bisections int  // how often a batch of records without an address was divided since something was taken
	oneByOne   bool // that has found nothing: one record goes by itself
	fullTaken  int  // full requests taken since the limit was halved

	waits, keyWaits, probes *backoff.ExponentialBackOff

	unclearWait time.Duration // after the last attempt without a clear answer; 0: none that counts
	onlyThis    bool          // the last one was of a record that waits by itself while others are taken
	waylost     bool          // one that went by such a record had no clear answer either, and nothing was taken since

	held       *heldBatch    // that the service has taken and whose deletion waits for the next batch's; nil: none
	leaving    []*heldBatch  // whose deletion waits for a commit to go with
	deleteTook time.Duration // the last deletion of a held batch
	counting   *Commit       // with which goes what was taken without being stored; nil: nothing was
	countTimer *time.Timer   // when nobody else has made it
	gatherTill time.Time     // so long it waits for more records to go together; zero: it does not

	delay        time.Duration // before the next request; 0: none
	ownWait      time.Duration // what it waits between two attempts of its own
	troubleSince time.Time     // since when nothing is taken; zero: all is well
	toldTrouble  bool          // NoteStalled or NotePaused is out
	takenAt      time.Time     // when the service last took a record; zero: not in this run
}

// unfinished says that a batch is to go again, or still to be taken apart.
func (d *drain) unfinished() bool { return len(d.sameAgain) > 0 || len(d.halves) > 0 }

// Drain takes the records of a stream to the service, in batches of one address, oldest first, until ctx ends; then it
// returns nil, with every answer that came in committed. It deletes what is Stored, isolates what is Poison, keeps and
// repeats everything else (Stream, Class and NoteKind say how). An empty stream costs nothing: it waits for an Update.
//
// One Drain per stream at a time. It returns an error when the stream is unknown, held or being drained, or when the
// box is dead or closed.
func (b *Box) Drain(ctx context.Context, stream string, to Sender) error {
	s, err := b.claimDrain(stream)
	if err != nil {
		return err
	}
	defer func() {
		b.mu.Lock()
		s.draining = false
		b.mu.Unlock()
	}()
	d := &drain{b: b, s: s, to: to, waits: newBackOff(firstWait, waitCap), keyWaits: newBackOff(firstWait, keyCap),
		probes: newBackOff(firstProbe, keyCap)}
	d.resumeUnclear()
	for ctx.Err() == nil && err == nil {
		err = d.step(ctx)
		b.tell()
		if errors.Is(err, ErrNoSpace) { // nothing was sent, or it stays to be judged again
			d.delay, err = d.waits.NextBackOff(), nil
		}
	}
	d.setActivity(Stopped) // nothing is offered any more
	if last := errors.Join(d.finishDeletions(ctx, true), d.currentOffer().store(), d.endCounting()); err == nil || errors.Is(last, ErrDead) {
		err = last
	}
	if err == nil || ctx.Err() != nil && !errors.Is(err, ErrDead) {
		return nil
	}
	return fmt.Errorf("drain %s: %w", stream, err)
}

func (b *Box) claimDrain(stream string) (*stream, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[stream]
	switch {
	case s == nil:
		return nil, fmt.Errorf("drain %q: %w", stream, ErrStream)
	case s.Held:
		return nil, fmt.Errorf("drain %s: the stream is held: %w", stream, ErrRefused)
	case s.draining:
		return nil, fmt.Errorf("drain %s: it is being drained: %w", stream, ErrRefused)
	}
	s.draining = true
	return s, b.usable()
}

// step waits, selects, sends and acts on the answers of one request.
func (d *drain) step(ctx context.Context) error {
	if err := d.finishDeletions(ctx, false); err != nil {
		return err
	}
	if err := d.sitOutDelay(ctx); err != nil || d.delay > 0 {
		return err
	}
	offered := d.currentOffer() != nil
	if !offered && !d.hasWork() {
		return d.waitForWork(ctx)
	}
	if left := d.untilGathered(time.Now()); !offered && left > 0 {
		return d.gather(ctx, left)
	}
	if d.b.opt.Pace != nil { // before anything is chosen: what waits for hours must not be in flight
		d.setActivity(Pacing)
		if err := d.b.opt.Pace(ctx, d.s.Name); err != nil {
			return fmt.Errorf("pace: %w", err)
		}
	}
	if o := d.currentOffer(); o != nil {
		return d.sendOffered(ctx, o)
	}
	if err := d.quarantineConfirmed(); err != nil {
		return err
	}
	next, err := d.nextBatch()
	if err != nil {
		return err
	}
	defer func() {
		if !d.keepsInFlight(next.batch) {
			d.release(next.batch)
		}
	}()
	if err := d.b.deadLetterCorrupt(d.s, next.corrupt); err != nil {
		return err
	}
	if batch := next.batch; len(batch) > 0 {
		if err := d.journalAttempt(batch); err != nil {
			return err
		}
		return d.apply(ctx, batch, d.ask(ctx, batch))
	}
	if err := d.deleteHeld(ctx); err != nil || d.lookAgain || d.delay > 0 {
		return err
	}
	return d.waitForWork(ctx)
}

// noteAsked notes what is being sent, so that people see how long its answer is awaited.
func (d *drain) noteAsked(batch []Record) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.s.drainStatus.Asked = time.Now()
	for _, r := range batch {
		d.s.drainStatus.Asking += len(r.Body)
		d.s.drainStatus.Late = max(d.s.drainStatus.Late, r.Late)
	}
}

// ask makes the request and returns the answers. The slice is the Sender's; the bodies are shared and not written by anyone.
func (d *drain) ask(ctx context.Context, batch []Record) []Answer {
	d.setActivity(Sending)
	d.noteAsked(batch)
	began := time.Now()
	answers := d.to.Send(ctx, d.s.Name, slices.Clone(batch))
	d.sizeNext(batch, answers, time.Since(began))
	return answers
}

// sitOutDelay sits out the delay, unless somebody kicks, and leaves a further one when it is another stream's turn. While
// few records or destinations are refused and there is nothing to compare them with, a new one ends it too: it goes by
// itself, and tells.
func (d *drain) sitOutDelay(ctx context.Context) error {
	if d.delay <= 0 {
		return nil
	}
	d.noteStalled()
	d.setActivity(BackOff)
	timer := time.NewTimer(d.delay)
	defer timer.Stop()
	var fresh <-chan struct{}
	probing := d.breaker.open && d.poison.fewCandidates()
	if probing || d.newcomerMayPass() {
		fresh = d.s.wake
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.s.kick:
			d.forgetWaits()
		case <-fresh:
			if !probing && !d.hasUnblocked() {
				continue
			}
			d.breaker.open, d.poison.refusedInARow = false, 0
		case <-timer.C:
			d.delay = d.nextProbe(time.Now())
			return nil
		}
		d.delay = 0
		return nil
	}
}

// forgetWaits forgets every wait.
func (d *drain) forgetWaits() {
	d.resetWaits()
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.s.lastIsolatedTry = time.Time{}
	for _, a := range d.s.failing {
		a.recheck()
	}
}

// waitForWork waits for something to send: an Update, a Kick, or the end of a parked record's day.
func (d *drain) waitForWork(ctx context.Context) error {
	d.setActivity(Idle)
	d.b.mu.Lock()
	until := d.s.nextParked(time.Now())
	if at := d.s.nextIsolatedTry(); until.IsZero() || !at.IsZero() && at.Before(until) {
		until = at
	}
	d.b.mu.Unlock()
	var look <-chan time.Time
	timer := time.NewTimer(max(min(time.Until(until), clockCheck), 0))
	defer timer.Stop()
	if !until.IsZero() { // by the clock on the wall, which may be set meanwhile
		look = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look:
			if left := time.Until(until); left > 0 && left <= parkFor {
				timer.Reset(min(left, clockCheck))
				continue
			}
		case <-d.s.wake:
		case <-d.s.kick:
			d.forgetWaits()
		}
		return d.b.Err()
	}
}

// backOff sets the delay before the next request.
func (d *drain) backOff(class Class, wish time.Duration) {
	policy := d.waits
	switch class {
	case Key, Path:
		policy = d.keyWaits
	case Poison:
		policy = d.probes
	}
	if wish > 0 {
		wish += rand.N(wish/4 + 1) // many sites are told the same time at once
	}
	wait := policy.NextBackOff()
	if class == Ambiguous && d.unclearWait > 0 {
		wait = d.unclearWait
	}
	d.delay = max(wait, wish)
	d.s.unreachable.Store(wish == 0 && (class == Wait || class == Ambiguous))
	d.shareProbe(time.Now())
	if d.troubleSince.IsZero() {
		d.troubleSince = time.Now()
	}
}

// noteStalled notes once that nothing is taken for longer than people should have to guess.
func (d *drain) noteStalled() {
	if d.toldTrouble || d.troubleSince.IsZero() || time.Since(d.troubleSince) < stallAfter && !d.lastAnswer.Tell {
		return
	}
	d.toldTrouble = true
	d.b.note(Note{Kind: NoteStalled, Stream: d.s.Name}, "%s: nothing was taken since %s; everything is kept and tried again; the last answer: %s",
		d.s.Name, d.troubleSince.Format(time.RFC3339), d.lastAnswer.describe())
	d.b.tell()
}

// noteSuccess ends every kind of trouble. When the service has just come back, the other streams need not sit out their
// waits to find out.
func (d *drain) noteSuccess() {
	if d.s.unreachable.Swap(false) {
		for name, s := range d.b.streams {
			if s.unreachable.Load() {
				d.b.Kick(name)
			}
		}
	}
	d.resetWaits()
	if d.toldTrouble {
		d.b.note(Note{Kind: NoteResumed, Stream: d.s.Name}, "%s: records are taken again, after %s", d.s.Name, time.Since(d.troubleSince).Round(time.Second))
	}
	d.waylost, d.troubleSince, d.toldTrouble, d.delay, d.takenAt = false, time.Time{}, false, 0, time.Now()
}

func (d *drain) resetWaits() {
	d.waits.Reset()
	d.keyWaits.Reset()
	d.probes.Reset()
}

// setActivity notes what the drain is at from now on.
func (d *drain) setActivity(a Activity) {
	now := time.Now()
	next := DrainStatus{Activity: a, Troubled: d.troubleSince, Taken: d.takenAt}
	if a == BackOff {
		next.Next = now.Add(d.delay)
		if d.breaker.open {
			next.Activity, next.Refused = Paused, d.poison.lone()
		}
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	was := d.s.drainStatus
	if !d.troubleSince.IsZero() {
		next.Answer, next.Answered, next.Since = d.lastAnswer, was.Answered, was.Since
		if was.Activity == Sending {
			next.Answered = now
			if was.Since.IsZero() || was.Answer.Class != d.lastAnswer.Class || was.Answer.Status != d.lastAnswer.Status {
				next.Since = now
			}
		}
	}
	d.s.drainStatus = next
}

// persist commits what must not be forgotten: while the disk is full it tries again. When ctx ends it tries once more and
// gives up; the receipts tell the next start.
func (d *drain) persist(ctx context.Context, stage func(*group) error) error {
	for last := false; ; {
		err := d.b.submit(stage)
		if last || !errors.Is(err, ErrNoSpace) {
			return err
		}
		d.b.tell()
		d.delay = d.waits.NextBackOff()
		last = d.sitOutDelay(ctx) != nil
	}
}

func newBackOff(first, longest time.Duration) *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(first), backoff.WithMultiplier(waitGrowth),
		backoff.WithMaxInterval(longest), backoff.WithMaxElapsedTime(0))
}
