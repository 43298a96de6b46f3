package console

import (
	"maps"
	"slices"

	"gauger/agent/control"
)

// outbox shows each stream's ledger, and what holds up what waits in it.
func (p *sheet) outbox(s control.Status) {
	p.add(`<h2>Outbox</h2><table><tr><th>stream<th class="n">accepted<th class="n">= delivered<th class="n">+ waiting<th class="n">+ refused<th class="n">+ gave way<th class="n">+ dropped<th class="n">+ lost</tr>`)
	names := slices.Sorted(maps.Keys(s.Streams))
	for _, name := range names {
		c := control.Tally(s.Streams[name])
		p.add(`<tr><td>%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v</tr>`,
			name, c.Accepted, c.Delivered, c.Waiting, c.Dead, c.Evicted, c.Dropped, c.Losses())
	}
	p.add(`</table>`)
	for _, name := range names {
		if why := s.Drains[name].Why; why != "" {
			p.add(`<p>%v wait: %v.</p>`, name, why)
		}
	}
	p.link(s)
	for _, u := range s.Spared {
		p.add(`<p>%v: %v.</p>`, u.Device, u)
	}
	if s.Flash != nil {
		p.add(`<p>Written to disk: %v.</p>`, *s.Flash)
	}
}
