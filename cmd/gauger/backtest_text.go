package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// printBacktest prints what a person wants to see of a backtest: the tickets, then the events.
func printBacktest(c *call, t *trial) error {
	h := site{t.cfg}
	w := newTable(c.out)
	if len(t.booked) > 0 {
		w.printf("NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tGIVE OR TAKE\tREMARK\n")
	}
	held, doubtful := 0, 0
	for _, b := range t.booked {
		if b.Load == nil {
			continue
		}
		number, remark := b.Number, strings.Join(b.Load.Review, ", ")
		if remark != "" {
			remark = "review: " + remark
			doubtful++
		}
		if b.Ticket == nil {
			held++
			number = "(not sent by the end)"
		}
		w.printf("%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%s\n", number, b.Tank, timeText(b.Start, h.zone()), b.End.In(h.zone()).Format("15:04"),
			gaugeText(b.Load.Open), gaugeText(b.Load.Close), b.Load.GaugeBbl, b.Load.ErrorBbl, remark)
	}
	for i, raw := range t.events {
		var d eventBody
		if err := json.Unmarshal(raw, &d); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		start, end, err := d.parseTimes(t.cfg)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
			w.printf("\nEVENT\tFROM\tTO\tNOTE\n")
		}
		w.printf("%s\t%s\t%s\t%s\n", d.Rule, timeText(start, h.zone()), timeText(end, h.zone()), d.Note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	last := fmt.Sprintf("%s, %s", countText(len(t.sent), "ticket"), countText(len(t.events), "event"))
	if doubtful > 0 {
		last += fmt.Sprintf("; %s for a person to look at", countText(doubtful, "load"))
	}
	if held > 0 {
		last += fmt.Sprintf("; %s not sent by the end of the readings", countText(held, "load"))
	}
	_, err := fmt.Fprintln(c.out, "\n"+last)
	return err
}
