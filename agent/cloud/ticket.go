package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// RunTicket is the record of one removal from one tank (interface specification 2.4). The optional numbers are
// nil when nobody measured them.
type RunTicket struct {
	Number            string   // A-Z, 0-9 and -, at most Wire.NumberMax characters
	TankID            string   // the tank's external id
	OpeningLevel      float64  // inches
	ClosingLevel      float64  // inches
	SealOn            string   // a seal's number that is known; empty: what Wire.SealMode says
	SealOff           string   // likewise
	TopTemperature    *float64 // degrees Fahrenheit
	BottomTemperature *float64 // degrees Fahrenheit
	SpecificGravity   *float64 // on the basis that Wire.Gravity names; the caller computes it
	BSW               *float64 // percent
	Comments          string   // cut at Wire.CommentsMax
	Start, End        time.Time
	Purchaser         string
}

type ticketBody struct {
	TicketNumber      string      `json:"ticketNumber"`
	Tank              tankBody    `json:"tank"`
	OpeningLevel      levelBody   `json:"openingLevel"`
	ClosingLevel      levelBody   `json:"closingLevel"`
	SealOn            string      `json:"sealOn"`
	SealOff           string      `json:"sealOff"`
	TopTemperature    json.Number `json:"topTemperature,omitempty"`
	BottomTemperature json.Number `json:"bottomTemperature,omitempty"`
	SpecificGravity   json.Number `json:"specificGravity,omitempty"`
	BSW               json.Number `json:"bsw,omitempty"`
	Comments          string      `json:"comments"`
	Start             string      `json:"start"`
	End               string      `json:"end"`
	Purchaser         string      `json:"purchaser"`
}

type tankBody struct {
	ExternalID string `json:"externalID"`
}

type levelBody struct {
	Level json.Number `json:"level"`
}

// EncodeRunTicket gives one ticket's JSON object. It refuses a ticket without number, tank, purchaser or times,
// and numbers that JSON cannot hold; the error names every one.
func (w Wire) EncodeRunTicket(t RunTicket) ([]byte, error) {
	if err := w.checkTicket(t); err != nil {
		return nil, fmt.Errorf("encoding run ticket %q: %w", t.Number, err)
	}
	body := ticketBody{
		TicketNumber: t.Number,
		Tank:         tankBody{t.TankID},
		OpeningLevel: levelBody{w.level(t.OpeningLevel)},
		ClosingLevel: levelBody{w.level(t.ClosingLevel)},
		Comments:     cut(t.Comments, w.CommentsMax),
		Start:        w.ticketTime(t.Start),
		End:          w.ticketTime(t.End),
		Purchaser:    t.Purchaser,
	}
	body.SealOn, body.SealOff = w.Seals(t)
	body.TopTemperature = w.optional("topTemperature", t.TopTemperature, w.temperature)
	body.BottomTemperature = w.optional("bottomTemperature", t.BottomTemperature, w.temperature)
	body.SpecificGravity = w.optional("specificGravity", t.SpecificGravity, func(v float64) json.Number {
		return decimal(v, w.GravityDecimals)
	})
	body.BSW = w.optional("bsw", t.BSW, w.sediment)
	b, err := encode(body)
	if err != nil {
		return nil, fmt.Errorf("encoding run ticket %q: %w", t.Number, err)
	}
	return b, nil
}

func (w Wire) checkTicket(t RunTicket) error {
	var wrong []error
	add := func(bad bool, what string) {
		if bad {
			wrong = append(wrong, errors.New(what))
		}
	}
	add(t.Number == "", "it has no number")
	add(len(t.Number) > w.NumberMax, fmt.Sprintf("its number is longer than %d characters", w.NumberMax))
	add(strings.Trim(t.Number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "", "its number has characters other than A-Z, 0-9 and -")
	add(t.TankID == "", "it has no tank")
	add(strings.TrimSpace(t.Purchaser) == "", "it has no purchaser")
	add(!validTime(t.Start), "its start is not set or not a year of four digits")
	add(!validTime(t.End), "its end is not set or not a year of four digits")
	add(!finite(&t.OpeningLevel), "its opening level is not a number")
	add(!finite(&t.ClosingLevel), "its closing level is not a number")
	add(!finite(t.TopTemperature), "its top temperature is not a number")
	add(!finite(t.BottomTemperature), "its bottom temperature is not a number")
	add(!finite(t.SpecificGravity), "its specific gravity is not a number")
	add(!finite(t.BSW), "its bsw is not a number")
	return errors.Join(wrong...)
}

// Seals follow the seal mode; a seal's number that the ticket knows always wins.
func (w Wire) Seals(t RunTicket) (on, off string) {
	switch w.SealMode {
	case "time":
		on, off = w.ticketTime(t.End), w.ticketTime(t.Start)
	case "static":
		on, off = w.SealOn, w.SealOff
	}
	if t.SealOn != "" {
		on = t.SealOn
	}
	if t.SealOff != "" {
		off = t.SealOff
	}
	return on, off
}

// optional leaves a field out when it was not measured or is not wanted.
func (w Wire) optional(name string, v *float64, convert func(float64) json.Number) json.Number {
	if v == nil || slices.Contains(w.Omit, name) {
		return ""
	}
	return convert(*v)
}

func (w Wire) level(inches float64) json.Number {
	switch w.LevelUnit {
	case "ft":
		inches /= 12
	case "m":
		inches *= 0.0254
	case "cm":
		inches *= 2.54
	}
	return decimal(inches, w.levelDecimals())
}

// Inches turns a level of the service round.
func (w Wire) Inches(level float64) float64 {
	switch w.LevelUnit {
	case "ft":
		return level * 12
	case "m":
		return level / 0.0254
	case "cm":
		return level / 2.54
	}
	return level
}

// LevelSent is the level (inches) that the service has of one: rounded as it is sent, in the service's unit. Where the service is sent
// less than hundredths of an inch, a gauge is worth more than that, and is rounded to those.
func (w Wire) LevelSent(inches float64) float64 {
	sent, err := w.level(inches).Float64()
	sent = w.Inches(sent)
	if err != nil || math.Abs(sent-inches) > 0.01 {
		return math.Round(100*inches) / 100
	}
	return sent
}

func (w Wire) temperature(degF float64) json.Number {
	if w.TemperatureUnit == "degC" {
		degF = (degF - 32) / 1.8
	}
	return decimal(degF, w.TemperatureDecimals)
}

func (w Wire) sediment(percent float64) json.Number {
	if w.BSW == "fraction" {
		percent /= 100
	}
	return decimal(percent, w.bswDecimals())
}

// ticketTime formats in the zone that the wire names; "none" is the site's time with the offset left out.
func (w Wire) ticketTime(t time.Time) string {
	layout := w.TimeLayout
	if w.TimeZone == "utc" {
		return t.UTC().Format(layout)
	}
	if w.TimeZone == "none" {
		for _, offset := range []string{"-07:00", "Z07:00", "-0700", "Z0700"} {
			layout = strings.TrimRight(strings.TrimSuffix(layout, offset), " ")
		}
	}
	return t.In(w.zone()).Format(layout)
}
