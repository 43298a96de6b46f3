package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// ManualTicket is a ticket that a person writes.
type ManualTicket struct {
	Number, Tank, SealOn, SealOff, Comments, Purchaser string
	Open, Close                                        float64 // inches
	Start, End                                         time.Time
	TopTemperature, BottomTemperature                  *float64 // degrees Fahrenheit
	SpecificGravity, BSW                               *float64
	Anyway                                             string // why it is right though something speaks against it
	Replaces, Why                                      string // the ticket that has left in whose place it is booked, and why

	seen       *tank.Load // the load of that ticket
	remeasured string     // by another table than that ticket
}

// What speaks against a ticket that a person writes.
const (
	ahead    = 10 * time.Minute // of a clock that can be believed: a person's watch may differ by so much
	longLoad = 24 * time.Hour   // a longer load has a wrong date
	longAgo  = 2 * 366 * 24 * time.Hour
	lateMost = 62 * 24 * time.Hour // in which a load is usually written; one that is a year older has a wrong year
	oneTruck = 1.2                 // times truck_max, as for a load that was seen: by the table it is never exact
)

// insisted lets a person have what something speaks against: with a reason it is a warning, without one it is refused.
func insisted(doubts []string, reason string) (warning string, err error) {
	if _, err := plainText("the reason", reason, textMost); err != nil {
		return "", err
	}
	warning = strings.Join(doubts, "; ")
	if warning != "" && strings.TrimSpace(reason) == "" {
		end := either(strings.HasSuffix(warning, "?"), "", ".")
		return "", fmt.Errorf("%s%s Correct it, or if it is right all the same, say why with --anyway \"TEXT\", on the page in its field", warning, end)
	}
	return warning, nil
}

// tooMuch is what speaks against so many barrels by the table in such a time, as it would against a load that was seen.
func tooMuch(l tank.Loads, bbl float64, took time.Duration) (doubts []string) {
	if l.TruckMax > 0 && bbl > oneTruck*l.TruckMax {
		doubts = append(doubts, fmt.Sprintf("by the table it is %.1f bbl, and a truck holds %g (loads.truck_max): maybe it was two", bbl, l.TruckMax))
	}
	if rate := bbl / (took.Minutes() * cmp.Or(l.Speed, 1)); l.MaxRate > 0 && rate > l.MaxRate {
		doubts = append(doubts, fmt.Sprintf("%.1f bbl in %s are %.1f a minute, and no pump is believed more than %g (loads.max_rate)", bbl, took, rate, l.MaxRate))
	}
	return doubts
}

// CheckManual refuses a ticket of a person that cannot be a run, whatever the person says.
func (s *Site) CheckManual(w ManualTicket) error {
	t := s.tank(w.Tank)
	if t == nil {
		return s.errNoTank(w.Tank)
	}
	gauge := func(in float64) string { return tank.Length(in).Gauge() }
	switch {
	case t.Water:
		return fmt.Errorf("tank %s is one of water (product: water): no run ticket is made of it", t.ID)
	case !w.Start.Before(w.End):
		return errors.New("the load must end after it began")
	case !(w.Close >= 0):
		return fmt.Errorf("the closing gauge %s is below the bottom of the tank", gauge(w.Close))
	case !(w.Open <= float64(t.Height)):
		return fmt.Errorf("the opening gauge %s is above the tank, which is %s high", gauge(w.Open), gauge(float64(t.Height)))
	case w.Open <= w.Close:
		return fmt.Errorf("the opening gauge %s is not above the closing gauge %s; a run takes the level down: are they swapped?", gauge(w.Open), gauge(w.Close))
	}
	typed := cloud.RunTicket{TopTemperature: w.TopTemperature, BottomTemperature: w.BottomTemperature, SpecificGravity: w.SpecificGravity, BSW: w.BSW}
	for _, f := range figures {
		if v := *f.of(&typed); v != nil {
			if err := f.check(*v); err != nil {
				return err
			}
		}
	}
	for _, x := range [][2]string{{"the seal off", w.SealOff}, {"the seal on", w.SealOn}, {"the purchaser", w.Purchaser}} {
		if _, err := plainText(x[0], x[1], labelMost); err != nil {
			return err
		}
	}
	r := w.runTicket(t)
	r.Number = cmp.Or(r.Number, "M")
	_, err := s.Wire.EncodeRunTicket(r)
	return err
}

// byHand are the comments of a ticket that a person wrote without a word of the person's own.
const byHand = "entered by hand"

// runTicket is the service's ticket of what a person writes. What the person leaves out is the tank's constant, as in a ticket of
// a load. Why it is right though something speaks against it comes before the person's own words, where nothing cuts it off.
func (w *ManualTicket) runTicket(t *Tank) cloud.RunTicket {
	var parts []string
	if w.Replaces != "" {
		parts = append(parts, "replaces "+w.Replaces+": "+w.Why)
	}
	if w.Anyway != "" {
		parts = append(parts, "entered anyway: "+w.Anyway)
	}
	if w.remeasured != "" {
		parts = append(parts, w.remeasured)
	}
	if w.Comments != "" || parts == nil {
		parts = append(parts, cmp.Or(w.Comments, byHand))
	}
	if c := t.constants(w.load(t), func(string) bool { return false }); c != "" {
		parts = append(parts, "constant="+c)
	}
	r := t.stated(w.load(t))
	r.Number, r.TankID, r.OpeningLevel, r.ClosingLevel, r.SealOn, r.SealOff = w.Number, w.Tank, w.Open, w.Close, w.SealOn, w.SealOff
	r.Comments, r.Start, r.End, r.Purchaser = strings.Join(parts, "; "), w.Start, w.End, cmp.Or(w.Purchaser, t.Purchaser)
	return *r
}

// load is what a person has measured. Two temperatures are those of top and bottom and hold for both gauges; with opening_closing
// they are those of the two gauges and hold for top and bottom.
func (w *ManualTicket) load(t *Tank) *tank.Load {
	l := &tank.Load{Open: w.Open, Close: w.Close, TopTemperature: w.TopTemperature, BottomTemperature: w.BottomTemperature,
		ClosingTop: w.TopTemperature, ClosingBottom: w.BottomTemperature, Gravity: w.SpecificGravity, BSW: w.BSW}
	if t.OpeningClosing {
		l.BottomTemperature, l.ClosingTop = w.TopTemperature, w.BottomTemperature
	}
	if w.seen == nil {
		return l
	}
	l.OpenWater, l.CloseWater = w.seen.OpenWater, w.seen.CloseWater
	same := func(a, b *float64) bool { return a != nil && b != nil && *a == *b }
	if !t.OpeningClosing && same(w.TopTemperature, w.seen.TopTemperature) {
		l.ClosingTop = w.seen.ClosingTop
	}
	if !t.OpeningClosing && same(w.BottomTemperature, w.seen.BottomTemperature) {
		l.ClosingBottom = w.seen.ClosingBottom
	}
	return l
}

// figureDoubts are what speaks against the figures of a ticket as it would leave.
func figureDoubts(r cloud.RunTicket) (doubts []string) {
	for _, f := range figures {
		if v := *f.of(&r); v != nil && !(*v >= f.seldomBelow && *v <= f.above) {
			doubts = append(doubts, fmt.Sprintf("%s %g is hardly ever so; it is from %g to %g nearly always", f.name, *v, f.seldomBelow, f.above))
		}
	}
	if top, bottom := r.TopTemperature, r.BottomTemperature; top != nil && bottom != nil && math.Abs(*top-*bottom) > layering {
		doubts = append(doubts, fmt.Sprintf("top and bottom are %.0f degrees apart", math.Abs(*top-*bottom)))
	}
	if r.SealOn != "" && r.SealOn == r.SealOff {
		doubts = append(doubts, fmt.Sprintf("the seal %s was taken off and put on again; a seal is used once", r.SealOn))
	}
	return doubts
}

// layering, in degrees Fahrenheit: the oil of one tank has seldom more from bottom to top.
const layering = 60

// plainText checks a person's text for the wire: one line, and short enough.
func plainText(field, text string, most int) (string, error) {
	if n := utf8.RuneCountInString(text); n > most {
		return "", fmt.Errorf("%s of %d characters is too long; %d fit", field, n, most)
	}
	if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
		return "", fmt.Errorf("%s must be one line of plain text", field)
	}
	return text, nil
}

const (
	textMost  = 200 // characters of a person's comments: the evidence must still fit behind them
	labelMost = 64  // characters of a seal's number or a name
)
