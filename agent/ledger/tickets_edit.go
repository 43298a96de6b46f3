package ledger

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gauger/agent/tank"
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

// EditArgs are a person's new values for a held ticket, by EditFields.
type EditArgs struct {
	Number string            `json:"number"`
	Set    map[string]string `json:"set"`
}

// Edit changes figures of a held ticket and returns what was changed. Of two people the later one's value holds, and
// both are kept.
func (l ticketOperations) Edit(c EditArgs, person string) (made []Edit, err error) {
	set := map[string]string{}
	for field, text := range c.Set {
		if set[field], err = EditValue(field, text); err != nil {
			return nil, err
		}
	}
	err = l.updateHeld(c.Number, func(tx *txn, i int) error {
		h := &tx.heldTickets[i]
		t := l.site.tank(h.Load.Tank)
		if t == nil {
			return errUnconfigured(h.Load.Tank)
		}
		for _, field := range EditFields {
			value, given := set[field]
			old := tx.fieldText(*h, *t, field)
			if given && value != old {
				made = append(made, Edit{Field: field, Old: old, New: value, Person: person, At: tx.now.Round(0)})
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

// fieldText is a field of a held load's ticket as it would leave now.
func (tx ticketTxn) fieldText(h HeldTicket, t Tank, field string) string {
	r := tx.runTicket(h, t)
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
	text, _ := h.ownComments(t)
	return text
}
