package ledger

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// editField is a field of a ticket that a person may edit on a held one. Levels and times are none of them: they are what was
// gauged, and who disagrees rejects the ticket and writes another.
type editField struct {
	name   string
	parse  func(field, text string) (string, error) // what a person gives, as it will be kept
	figure func(*cloud.RunTicket) **float64         // its place on the wire ticket, of a number or
	text   func(*cloud.RunTicket) *string           // of a text; neither: comments, behind which the evidence follows
}

// editFields are in the order in which people read them.
var editFields = []editField{
	{name: "gravity", parse: parseGravity, figure: func(r *cloud.RunTicket) **float64 { return &r.SpecificGravity }},
	{name: "bsw", parse: parseBSW, figure: func(r *cloud.RunTicket) **float64 { return &r.BSW }},
	{name: "top_temperature", parse: parseTemperature, figure: func(r *cloud.RunTicket) **float64 { return &r.TopTemperature }},
	{name: "bottom_temperature", parse: parseTemperature, figure: func(r *cloud.RunTicket) **float64 { return &r.BottomTemperature }},
	{name: "seal_off", parse: parseLabel, text: func(r *cloud.RunTicket) *string { return &r.SealOff }},
	{name: "seal_on", parse: parseLabel, text: func(r *cloud.RunTicket) *string { return &r.SealOn }},
	{name: "purchaser", parse: parsePurchaser, text: func(r *cloud.RunTicket) *string { return &r.Purchaser }},
	{name: "comments", parse: func(field, text string) (string, error) { return plainText(field, text, textMost) }},
}

// EditValue reads what a person gives for a field, and returns it as it will be kept: a specific gravity 60/60 for a
// gravity in degrees API, a plain number for a figure.
func EditValue(field, text string) (string, error) {
	var names []string
	for _, f := range editFields {
		if f.name == field {
			return f.parse(field, strings.TrimSpace(text))
		}
		names = append(names, f.name)
	}
	return "", fmt.Errorf("%q of a ticket cannot be edited; what can is %s. Levels and times are as gauged: reject the ticket and write another with `gauger tickets add`",
		field, strings.Join(names, ", "))
}

// applyEdits writes what people have edited over a ticket; of a field's edits the last holds.
func applyEdits(r *cloud.RunTicket, edits []Edit) {
	for _, e := range edits {
		for _, f := range editFields {
			switch {
			case f.name != e.Field:
			case f.figure != nil:
				*f.figure(r) = nil // a text: it is not used as a number
				if v, err := strconv.ParseFloat(e.New, 64); err == nil {
					*f.figure(r) = &v
				}
			case f.text != nil:
				*f.text(r) = e.New
			}
		}
	}
}

// of is the field of a ticket as it would leave now; comments are a person's, or the configuration's.
func (f editField) of(r *cloud.RunTicket, comments string) string {
	switch {
	case f.text != nil:
		return *f.text(r)
	case f.figure == nil:
		return comments
	case *f.figure(r) == nil:
		return ""
	}
	return strconv.FormatFloat(**f.figure(r), 'f', -1, 64)
}

func parseBSW(field, text string) (string, error) {
	return parseFigure(field, text, 0, 100, "a percentage such as 0.4")
}

func parseTemperature(field, text string) (string, error) {
	return parseFigure(strings.ReplaceAll(field, "_", " "), text, -60, 300, "degrees Fahrenheit such as 78.5")
}

func parseLabel(field, text string) (string, error) { return plainText(field, text, labelMost) }

func parsePurchaser(field, text string) (string, error) {
	if text == "" {
		return "", errors.New("a ticket has a purchaser; give the name")
	}
	return parseLabel(field, text)
}

// parseGravity reads a specific gravity 60/60, or degrees API at 60 degF marked so.
func parseGravity(_, text string) (string, error) {
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
