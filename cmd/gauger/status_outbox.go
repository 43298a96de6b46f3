package main

import "gauger/agent"

// outbox shows each stream's ledger, and what holds up what waits in it.
func (p *page) outbox() {
	p.line("\nOUTBOX\tACCEPTED\t= DELIVERED\t+ WAITING\t+ REFUSED\t+ GAVE WAY\t+ DROPPED\t+ LOST")
	for _, name := range sortedNames(p.s.Streams) {
		n, shown := p.s.Streams[name], name
		if name == agent.Refused {
			shown = "unreadable messages"
		}
		p.line("%s\t%s", shown, sums(agent.Tally(n)))
	}
	if !p.s.Daemon {
		return // the first line says why nothing leaves
	}
	for _, name := range sortedNames(p.s.Drains) {
		d := p.s.Drains[name]
		if d.Why != "" {
			p.line("%s wait\t%s", name, d.Why)
		}
		if d.Parked > 0 && uint64(d.Parked) < p.s.Streams[name].Waiting {
			p.line("%s of %s\t%s", count(d.Parked, "record"), name, agent.ParkedWhy)
		}
	}
}
