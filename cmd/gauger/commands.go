package main

// commands are all there are, in the order in which help lists them.
func commands() []command {
	return []command{
		{"run", "", "read the site, queue and send; this is what systemd starts", (*Main).runAgent},
		{"check", "[--print] [--example] [--templates]", "look the configuration over, without a network", (*Main).check},
		{"read", "[--watch] [--trace] [POINT...]", "ask the devices once, or go on", (*Main).read},
		{"probe", "URL UNIT REGISTER", "one Modbus register in every type, order, scale and offset, ranked", (*Main).probe},
		{"scan", "URL [--baud 9600,19200]", "which Modbus unit ids answer on a line", (*Main).scan},
		{"status", "", "is it reading, is it sending, what is wrong", (*Main).showStatus},
		{"tickets list", "", "every run ticket and where it stands", (*Main).ticketsList},
		{"tickets show", "NUMBER", "one ticket with its evidence", (*Main).ticketsShow},
		{"tickets explain", "NUMBER", "why it is a ticket, in sentences", (*Main).ticketsExplain},
		{"tickets add", "--tank ID ...", "queue a ticket that a person writes", (*Main).ticketsAdd},
		{"tickets release", "NUMBER", "let a held ticket go", (*Main).ticketsRelease},
		{"tickets reject", "NUMBER --why TEXT", "forget a held ticket, with an event", (*Main).ticketsReject},
		{"backtest", "--readings CSV [--plot SVG] [--against sent]", "the tickets that a configuration would have made", (*Main).backtest},
		{"outbox list", "[STREAM]", "what waits and what was refused", (*Main).outboxList},
		{"outbox show", "STREAM/SEQ", "one record, as the service gets it", (*Main).outboxShow},
		{"outbox dead", "[STREAM]", "what the service refused, or nobody could decode", (*Main).outboxDead},
		{"outbox retry", "STREAM[/SEQ]", "queue refused or parked records again", (*Main).outboxRetry},
		{"outbox drop", "STREAM/SEQ --why TEXT", "give a record up", (*Main).outboxDrop},
		{"outbox export", "[STREAM]", "all records as lines of JSON", (*Main).outboxExport},
		{"outbox check", "FILE", "examine an outbox file, without the daemon", (*Main).outboxCheck},
		{"keys show", "", "the subscription keys in plain words, never their values", (*Main).keysShow},
		{"keys renew", "primary|secondary", "renew a key now", (*Main).keysRenew},
		{"keys set", "primary|secondary", "give a new key, read from standard input", (*Main).keysSet},
		{"login", "", "authenticate at the service", (*Main).login},
		{"clock trust", "", "say that the box's clock is right", (*Main).clockTrust},
		{"devices query", "", "devices of the service", (*Main).devicesQuery},
		{"memo add", "DEVICE TEXT", "add a memo to a device", (*Main).memoAdd},
		{"events get", "TYPE --start T --end T", "events of the service", (*Main).eventsGet},
		{"events save", "", "save diagnostic events", (*Main).eventsSave},
		{"tagvalues save", "WELL", "save tag values of a well", (*Main).tagValuesSave},
		{"targets save", "WELL", "save production targets of a well", (*Main).targetsSave},
		{"version", "", "which gauger this is", (*Main).showVersion},
	}
}
