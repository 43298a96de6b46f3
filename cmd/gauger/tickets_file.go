package main

import (
	"errors"
	"fmt"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
)

// The service's shape of a run ticket. Levels, temperatures and sediment are in the units of the wire.
type (
	ticketBody struct {
		Number    string    `json:"ticketNumber"`
		Tank      tankBody  `json:"tank"`
		Opening   levelBody `json:"openingLevel"`
		Closing   levelBody `json:"closingLevel"`
		SealOn    string    `json:"sealOn"`
		SealOff   string    `json:"sealOff"`
		Top       *float64  `json:"topTemperature"`
		Bottom    *float64  `json:"bottomTemperature"`
		Gravity   *float64  `json:"specificGravity"`
		BSW       *float64  `json:"bsw"`
		Comments  string    `json:"comments"`
		Start     string    `json:"start"`
		End       string    `json:"end"`
		Purchaser string    `json:"purchaser"`
	}
	tankBody struct {
		ExternalID string `json:"externalID"`
	}
	levelBody struct {
		Level *float64 `json:"level"`
	}
)

// readTicketFile reads tickets from a file in the service's shape.
func readTicketFile(c *call, cfg *config.Config, path string) ([]ledger.ManualTicket, error) {
	bodies, err := recordsOf[ticketBody](c, path)
	if err != nil {
		return nil, err
	}
	var all []ledger.ManualTicket
	for i, b := range bodies {
		w, err := b.manualTicket(cfg.Service.Wire, cfg.Zone)
		if err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
		all = append(all, w)
	}
	return all, nil
}

// manualTicket turns a body round into the program's own units.
func (b ticketBody) manualTicket(wire cloud.Wire, zone *time.Location) (ledger.ManualTicket, error) {
	if b.Opening.Level == nil || b.Closing.Level == nil {
		return ledger.ManualTicket{}, errors.New("openingLevel.level and closingLevel.level are needed")
	}
	start, err := ticketTime(wire, b.Start, zone)
	if err != nil {
		return ledger.ManualTicket{}, fmt.Errorf("start: %w", err)
	}
	end, err := ticketTime(wire, b.End, zone)
	if err != nil {
		return ledger.ManualTicket{}, fmt.Errorf("end: %w", err)
	}
	return ledger.ManualTicket{
		Number: b.Number, Tank: b.Tank.ExternalID, Start: start, End: end,
		Open: inches(wire, *b.Opening.Level), Close: inches(wire, *b.Closing.Level), SealOn: b.SealOn, SealOff: b.SealOff,
		TopTemperature: degF(wire, b.Top), BottomTemperature: degF(wire, b.Bottom), SpecificGravity: b.Gravity, BSW: percent(wire, b.BSW),
		Comments: b.Comments, Purchaser: b.Purchaser,
	}, nil
}

// ticketTime reads a time in the wire's own layout, or as people write times.
func ticketTime(wire cloud.Wire, text string, zone *time.Location) (time.Time, error) {
	if wire.TimeZone == "utc" {
		zone = time.UTC
	}
	t, err := time.ParseInLocation(wire.TimeLayout, text, zone)
	if err != nil {
		t, err = parseTime(text, zone, time.Now())
	}
	if err == nil {
		err = onceOnly(text, t)
	}
	return t, err
}

func inches(wire cloud.Wire, v float64) float64 {
	switch wire.LevelUnit {
	case "ft":
		return v * 12
	case "m":
		return v / 0.0254
	case "cm":
		return v / 2.54
	}
	return v
}

func degF(wire cloud.Wire, v *float64) *float64 {
	if v == nil || wire.TemperatureUnit != "degC" {
		return v
	}
	return new(*v*1.8 + 32)
}

func percent(wire cloud.Wire, v *float64) *float64 {
	if v == nil || wire.BSW != "fraction" {
		return v
	}
	return new(*v * 100)
}
