package main

import (
	"gauger/agent/control"
	"gauger/agent/ledger"
)

// streamName for people, who take refused for the records that the service refused.
func streamName(name string) string {
	if name == ledger.Refused {
		return "unreadable messages"
	}
	return name
}

// outbox shows each stream's ledger, and what holds up what waits in it.
func (p *statusPage) outbox() {
	p.printf("\nOUTBOX\tACCEPTED\t= DELIVERED\t+ WAITING\t+ REFUSED\t+ GAVE WAY\t+ DROPPED\t+ LOST")
	for _, name := range sortedNames(p.s.Streams) {
		p.printf("%s\t%s", streamName(name), countsRow(control.Tally(p.s.Streams[name])))
	}
	if !p.s.Daemon {
		return // the first line says why nothing leaves
	}
	for _, name := range sortedNames(p.s.Drains) {
		d := p.s.Drains[name]
		if d.Why != "" {
			p.printf("%s wait\t%s", name, d.Why)
		}
		if d.Parked > 0 && uint64(d.Parked) < p.s.Streams[name].Waiting {
			p.printf("%s of %s\t%s", countText(d.Parked, "record"), name, control.ParkedWhy)
		}
	}
}
