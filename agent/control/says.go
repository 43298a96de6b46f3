package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gauger/agent/ledger"
)

// says is what a record has to tell: a load, values, or words. So a person sees what is lost with one that was refused. Empty: it is
// not known here.
func (d *Server) says(e Entry) string {
	if e.Stream == ledger.Tickets {
		b, err := d.Ledger.Ticket(e.Label)
		if err != nil || b.Number == "" {
			return ""
		}
		r := TicketRow{TicketRecord: b}
		text := strings.TrimSpace(r.Tank + " " + r.GaugesText())
		if bbl := r.Barrels(); bbl != nil {
			text += fmt.Sprintf(", %.1f bbl", *bbl)
		}
		return text + fmt.Sprintf(", %s to %s", d.localMinute(r.Start), d.localMinute(r.End))
	}
	var body struct {
		Note   string
		Values []struct {
			Value json.Number
			At    time.Time `json:"timestamp"`
		}
	}
	if json.Unmarshal(e.Body, &body) != nil {
		return ""
	}
	if n := len(body.Values); n > 0 {
		first, last := body.Values[0], body.Values[n-1]
		text := fmt.Sprintf("%s at %s", first.Value, d.localTime(first.At))
		if n > 1 {
			text += fmt.Sprintf(" to %s at %s, %d values", last.Value, d.localTime(last.At), n)
		}
		for _, v := range d.Site.Values {
			if v.Code == e.Label && v.Well == e.Address && v.Target == (e.Stream == ledger.Targets) {
				text += ", the code of " + string(v.Point) // a person's own value of the code looks the same
			}
		}
		return text
	}
	if e.Stream == ledger.Memos {
		var memo map[string]string
		_ = json.Unmarshal(e.Body, &memo) // it was an object just now; what is no text in it stays empty
		return memo[d.Site.Wire.MemoText]
	}
	return body.Note
}
