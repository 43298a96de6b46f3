package tankbook

import (
	"fmt"
	"math"
	"strings"

	"gauger/agent/tank"
)

const (
	kindRemeasured  = 0
	leastRemeasured = 0.005 // bbl; what is less is none
)

// Remeasured is how a tank is measured from now on.
type Remeasured struct {
	Table tank.Table
	By    tank.Conversion // turns a level by the measure before into one by this
	Why   string          // what was changed
}

// SetupChanged is the book after a tank began to be measured in another way: by another table, offset or sensor. What the same oil
// is more or less by the new measure is no production; what its level does from the last reading to the next says nothing else.
func (b Book) SetupChanged(i int, r Remeasured) Book {
	return b.changed(i, func(p *tankPage) {
		if p.begun {
			p.remeasure(r)
		}
	})
}

// MeterChanged is the book after another meter, or the same one by other words, began to count a tank's production: what it
// shows first is where it begins.
func (b Book) MeterChanged(i int) Book {
	return b.changed(i, func(p *tankPage) {
		if p.meter.known {
			p.meter.at = nextCountBegins
		}
	})
}

// changed begins the rests of a tank's day anew, where something about how it is measured was changed.
func (b Book) changed(i int, change func(*tankPage)) Book {
	if i >= len(b.pages) || b.pages[i] == nil {
		return b
	}
	w := &bookkeeper{b: b}
	p := w.writable(i)
	if p.begun {
		p.cutRest()
		p.today.steppedAt, p.today.stepBooked = p.newestAt(), true
		p.today.remark("how the tank is measured was changed: the figures of this day are doubtful")
	}
	change(p)
	return w.b
}

// cutRest ends the rest, or the movement that is under way, with the newest level: nothing is compared across it.
func (p *tankPage) cutRest() {
	if p.moving {
		m := movement{p.before.t + p.clockOffset, p.newestAt(), p.last.net - p.before.net}
		if !m.overlaps(p.lastExplained) {
			p.dayOf(m.to).addUnexplained(m)
		}
	}
	p.endAtGaugeOff(&p.today.rest)
	p.n, p.inRest, p.moving = 0, 0, false
}

// remeasure names what the oil that is in the tank is more or less by the new measure. The levels about the gauge-off are taken along, so
// that the stock there is by one measure.
func (p *tankPage) remeasure(r Remeasured) {
	was, at := p.last, p.newestAt()
	p.last = r.of(was)
	near := make([]stockAt, len(p.nearGaugeOff))
	for k, e := range p.nearGaugeOff {
		near[k] = r.of(e)
	}
	p.nearGaugeOff = near
	if bbl := was.stock - p.last.stock; math.Abs(bbl) >= leastRemeasured {
		p.today.addPart(namedPart{kind: kindRemeasured, movement: movement{at, at, bbl}, before: was.gauged(), after: p.last.gauged(), why: shortened(r.Why), times: 1})
	}
}

// of is a stock by the new measure.
func (r Remeasured) of(e stockAt) stockAt {
	metered := e.stock - e.net
	e.level = r.By.Of(e.level)
	e.stock, _ = r.Table.Extrapolated(e.level)
	e.net = e.stock - metered
	return e
}

// shortened is a text that is no longer than may be stored.
func shortened(text string) string {
	if len(text) <= whyMost {
		return text
	}
	return strings.ToValidUTF8(text[:whyMost], "") + " …"
}

// remeasuredWords say what the same oil was and is.
func (w *bookkeeper) remeasuredWords(x namedPart) string {
	if x.times > 1 {
		return fmt.Sprintf("the tank was measured in another way %d times from %s", x.times, w.clockSpan(x.from, x.to))
	}
	level := fmt.Sprintf("%.2f in", x.before.in)
	if math.Abs(x.after.in-x.before.in) >= 0.005 {
		level += fmt.Sprintf(", which are %.2f in now,", x.after.in)
	}
	return fmt.Sprintf("remeasured %s: %.2f bbl at %s are %.2f bbl from then on (%s), because %s", w.clockTime(x.from), x.before.bbl, level, x.after.bbl, moreOrLess(x.before, x.after), x.why)
}
