package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// Edit is one figure of a held ticket that a person has changed. Both values are kept for ever, beside the load as it
// was seen.
type Edit struct {
	Field  string    `json:"field"` // one of EditFields
	Old    string    `json:"old"`   // empty: the ticket had none, or for a seal what the configuration says
	New    string    `json:"new"`
	Person string    `json:"person"` // the local user
	At     time.Time `json:"at"`
}

// EditFields are what a person may change of a held ticket. Levels and times are none of them: they are what was
// gauged, and who disagrees rejects the ticket and writes another.
var EditFields = []string{"gravity", "bsw", "top_temperature", "bottom_temperature", "seal_off", "seal_on", "purchaser", "comments"}

const (
	textMost  = 200 // characters of a person's comments: the evidence must still fit behind them
	labelMost = 64  // characters of a seal's number or a name
)

// EditValue reads what a person gives for a field, and returns it as it will be kept: a specific gravity 60/60 for a
// gravity in degrees API, a plain number for a figure.
func EditValue(field, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch field {
	case "gravity":
		return parseGravity(text)
	case "bsw":
		return parseFigure("bsw", text, 0, 100, "a percentage such as 0.4")
	case "top_temperature", "bottom_temperature":
		return parseFigure(strings.ReplaceAll(field, "_", " "), text, -60, 300, "degrees Fahrenheit such as 78.5")
	case "seal_off", "seal_on":
		return plainText(field, text, labelMost)
	case "purchaser":
		if text == "" {
			return "", errors.New("a ticket has a purchaser; give the name")
		}
		return plainText(field, text, labelMost)
	case "comments":
		return plainText(field, text, textMost)
	}
	return "", fmt.Errorf("%q of a ticket cannot be edited; what can is %s. Levels and times are as gauged: reject the ticket and write another with `gauger tickets add`",
		field, strings.Join(EditFields, ", "))
}

// parseGravity reads a specific gravity 60/60, or degrees API at 60 degF marked so.
func parseGravity(text string) (string, error) {
	number, isAPI := strings.CutSuffix(strings.ToLower(text), "api")
	v, err := strconv.ParseFloat(strings.TrimRight(number, " °"), 64)
	if err != nil || math.IsNaN(v) {
		return "", fmt.Errorf("%q is no gravity; want a specific gravity such as 0.83, or degrees API as in \"39.0 API\"", text)
	}
	if isAPI {
		if v < -10 || v > 100 {
			return "", fmt.Errorf("%g API is no crude oil's; want -10 to 100", v)
		}
		v = math.Round(tank.SpecificGravity(v)*1e4) / 1e4
	}
	if v < 0.5 || v > 1.2 {
		return "", fmt.Errorf("specific gravity %g is no oil's; want a figure such as 0.83, or degrees API as in \"39.0 API\"", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64), nil
}

func parseFigure(name, text string, low, high float64, such string) (string, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= low && v <= high) {
		return "", fmt.Errorf("%q is no %s; want %s, from %g to %g", text, name, such, low, high)
	}
	return strconv.FormatFloat(v, 'f', -1, 64), nil
}

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

// EditArgs is what a person wants other on a held ticket, by EditFields.
type EditArgs struct {
	Number string            `json:"number"`
	Set    map[string]string `json:"set"`
}

// Edit changes figures of a held ticket and returns what was changed. Of two people the later one's value holds, and
// both are kept.
func (l *Ledger) Edit(c EditArgs, person string) (made []Edit, err error) {
	set := map[string]string{}
	for field, text := range c.Set {
		if set[field], err = EditValue(field, text); err != nil {
			return nil, err
		}
	}
	err = l.updateHeld(c.Number, func(d *txn, i int) error {
		h := &d.heldTickets[i]
		t := l.site.tank(h.Load.Tank)
		if t == nil {
			return errUnconfigured(h.Load.Tank)
		}
		for _, field := range EditFields {
			value, given := set[field]
			old := d.fieldText(*h, *t, field)
			if given && value != old {
				made = append(made, Edit{Field: field, Old: old, New: value, Person: person, At: d.now.Round(0)})
			}
		}
		if made == nil {
			return fmt.Errorf("nothing to change: ticket %s says so already", h.name())
		}
		h.Edits = append(h.Edits[:len(h.Edits):len(h.Edits)], made...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// fieldText is what the ticket of a held load would say in a field now.
func (d *txn) fieldText(h HeldTicket, t Tank, field string) string {
	r := d.runTicket(h, t)
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	switch field {
	case "gravity":
		return number(r.SpecificGravity)
	case "bsw":
		return number(r.BSW)
	case "top_temperature":
		return number(r.TopTemperature)
	case "bottom_temperature":
		return number(r.BottomTemperature)
	case "seal_off":
		return r.SealOff
	case "seal_on":
		return r.SealOn
	case "purchaser":
		return r.Purchaser
	}
	text, _ := h.comments(t)
	return text
}

// comments are the words before the evidence: the configuration's, or a person's.
func (h HeldTicket) comments(t Tank) (text string, edited bool) {
	text = t.Comments
	for _, e := range h.Edits {
		if e.Field == "comments" {
			text, edited = e.New, true
		}
	}
	return text, edited
}

// applyEdits writes what people have edited over a ticket; of a field's edits the last holds.
func applyEdits(r *cloud.RunTicket, edits []Edit) {
	for _, e := range edits {
		v, err := strconv.ParseFloat(e.New, 64)
		number := &v
		if err != nil {
			number = nil // a text: it is not used as a number
		}
		switch e.Field {
		case "gravity":
			r.SpecificGravity = number
		case "bsw":
			r.BSW = number
		case "top_temperature":
			r.TopTemperature = number
		case "bottom_temperature":
			r.BottomTemperature = number
		case "seal_off":
			r.SealOff = e.New
		case "seal_on":
			r.SealOn = e.New
		case "purchaser":
			r.Purchaser = e.New
		}
	}
}

// editedBy says by whom which fields were edited, for the comments; empty when nobody did.
func editedBy(edits []Edit) string {
	last := map[string]string{}
	var people []string
	for _, e := range edits {
		last[e.Field] = e.Person
		if !slices.Contains(people, e.Person) {
			people = append(people, e.Person)
		}
	}
	var all []string
	for _, p := range people {
		var fields []string
		for _, f := range EditFields {
			if last[f] == p {
				fields = append(fields, f)
			}
		}
		if fields != nil {
			all = append(all, "edited by "+p+": "+strings.Join(fields, ", "))
		}
	}
	return strings.Join(all, "; ")
}
