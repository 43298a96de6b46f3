// Package eventrules lists the rules of gauger's own diagnostic events: the name under which the service files an event,
// who tells it, when, and what a person does about it. The rules of a site's alarms stand in its configuration (events:)
// and have names of their own.
//
// Who finds something says so in words of its own room: a collector a collectors.Notice, the detector and the tank book a
// tank.Event, the key ring a keys.Note, the outbox an outbox.Note. The ledger makes an event of each, and an Episode of what
// lasts, which is told when it ends. cloud.DiagnosticEvent is the body that is sent, cloud.Event what the service shows of it.
//
// A name never changes once it has left a site: people at the service filter by it. To add an event, write its constant and its
// line of List; the house test admits no other name. deploy/doc/events.md is made of the list (TestPage).
package eventrules

// The devices and the collectors that read them.
const (
	CommLoss            = "comm-loss"
	DeviceStatus        = "device-status"
	DeviceTime          = "device-time"
	MemoryFailed        = "memory-failed"
	MessageLost         = "message-lost"
	MessagesDropped     = "messages-dropped"
	RecordingUnmatched  = "recording-unmatched"
	SessionLost         = "session-lost"
	ShareDown           = "share-down"
	Silent              = "silent"
	SubscriptionRefused = "subscription-refused"
	SubscriptionWeak    = "subscription-weak"
	TopicsTooMany       = "topics-too-many"
	UnknownTopic        = "unknown-topic"
	Unreadable          = "unreadable"
	ValueMissing        = "value-missing"
)

// The tanks, by the detector and the tank book.
const (
	BadValue        = "bad-value"
	ClockStep       = "clock-step"
	Gap             = "gap"
	OilUnloaded     = "oil-unloaded"
	Recirculation   = "recirc"
	SmallDraws      = "small-draws"
	SpikeRate       = "spike-rate"
	Step            = "step"
	Stuck           = "stuck"
	Transfer        = "transfer"
	UnexplainedLoss = "unexplained-loss"
	WaterDraw       = "water-draw"
)

// Tickets, values, and the work of people.
const (
	ConfigChanged    = "config-changed"
	ConfigFailed     = "config-failed"
	Heartbeat        = "heartbeat"
	LoadNeedsReview  = "load-needs-review"
	PowerRestart     = "power-restart"
	ReadingsUnused   = "readings-unused"
	RecordUnwritable = "record-unwritable"
	TankInhibited    = "tank-inhibited"
	TicketCorrection = "ticket-correction"
	TicketRejected   = "ticket-rejected"
	TicketUnwritable = "ticket-unwritable"
	ValueRefused     = "value-refused"
)

// The outbox and the way to the service.
const (
	KeyExpiring      = "key-expiring"
	KeyFile          = "key-file"
	KeyRefused       = "key-refused"
	KeyRenewalFailed = "key-renewal-failed"
	KeyUnusable      = "key-unusable"
	OutboxDropped    = "outbox-dropped"
	OutboxFull       = "outbox-full"
	OutboxSalvaged   = "outbox-salvaged"
	OutboxShut       = "outbox-shut"
	SendRejected     = "send-rejected"
	ServiceSettings  = "service-settings"
)

// Rule is one line of the list.
type Rule struct {
	Name   string
	Teller string // the room that finds it
	When   string
	Do     string // what a person does about it
}

// List holds every rule, in the order of the constants.
var List = []Rule{
	{CommLoss, "collectors/host, collectors/modbus, collectors/mqtt, agent", "a device, a broker or a Sparkplug device is away, a file of the host cannot be read, or the service took nothing for ten minutes", "look at power, cable, address, unit id and link; it ends when there is an answer"},
	{DeviceStatus, "agent, collectors/modbus", "a collector ended with an error, and the device is not read until the next start; or it answers and has given no value for ten minutes", "correct the device's configuration and restart; look at a device that refuses what it is asked"},
	{DeviceTime, "collectors/mqtt", "the time that a device sends makes no sense; its values have the time of their arrival", "set the device's clock, or correct time: at the point"},
	{MemoryFailed, "collectors/mqtt", "something could not be remembered or recalled; nothing is lost by it but time", "look at the disk"},
	{MessageLost, "collectors/mqtt", "a message of a Sparkplug node was lost; its values are uncertain until it is born again", "nothing, if it is rare; else look at the node's link"},
	{MessagesDropped, "agent/ledger", "a device sends more that cannot be decoded than is stored; the rest is acknowledged, counted and dropped", "look at gauger outbox dead refused: correct the point or the device; or store more (store.refused)"},
	{RecordingUnmatched, "collectors/sim", "no row of a recording names a configured point", "correct the points' names, or the file"},
	{SessionLost, "collectors/mqtt", "the broker has forgotten the session; what was published meanwhile may be missing", "let the broker keep sessions on disk"},
	{ShareDown, "collectors/modbus/share", "other masters cannot read the shared devices", "stop what has the address, or choose another one (share:)"},
	{Silent, "collectors/mqtt", "a point was not heard for longer than expect_every allows", "look at the device; until it is heard again its last value does not count"},
	{SubscriptionRefused, "collectors/mqtt", "the broker refused a topic", "permit reading to the client, or correct the topic"},
	{SubscriptionWeak, "collectors/mqtt", "the broker gives a topic only with quality of service 0", "permit quality of service 1 at the broker"},
	{TopicsTooMany, "collectors/mqtt", "more topics came for a point with wildcards than it makes points of", "look who publishes there; narrow the topic, or name the topics that are needed as points of their own, and restart"},
	{UnknownTopic, "collectors/mqtt", "messages came on a topic that no point reads, and were dropped", "end the old subscription, or give the client an id of its own"},
	{Unreadable, "collectors/mqtt", "a tenth or more of a point's messages cannot be decoded; what they held is not read", "`gauger outbox dead refused` shows them: correct the point or the device, then `gauger outbox retry refused`"},
	{ValueMissing, "collectors/mqtt", "messages come on a point's topic, and its value was in none of them", "correct value: at the point; the note names the keys that are there"},

	{BadValue, "agent/tank", "readings of a tank were no level: not a number, or out of range", "look at the sensor and its scaling"},
	{ClockStep, "agent/tank", "the clock of a tank's readings stepped by half a minute or more", "look at the clock if it comes again and again"},
	{Gap, "agent/tank", "no reading to believe came for a while; Note has the levels before and after", "look at the sensor; compare with the day's tickets"},
	{OilUnloaded, "agent/tankbook", "far more oil came at once than the tank's well makes in a day, and no other tank of the site gave it", "ask who unloaded: a truck, or a tank that gauger does not watch"},
	{Recirculation, "agent/tank", "oil went out and came back: no run", "nothing"},
	{SmallDraws, "agent/tank", "draws below loads.min_load came to five barrels or more in a day", "look whether min_load is right, and whether somebody drains the tank"},
	{SpikeRate, "agent/tank", "a tank's level jumped and came back at once, again and again", "look at the sensor: foam, a false echo, a loose wire"},
	{Step, "agent/tank", "a tank's level jumped and stayed: a new span or a false echo; no ticket is made across it. A sensor that hung through a load looks the same: then it says how much is gone", "confirm that somebody set the sensor anew; if not, compare with the trucks and add the load: `gauger tickets add`"},
	{Stuck, "agent/tank", "a tank's level stood still where it usually moves", "look at the float or the transmitter"},
	{Transfer, "agent/tank", "oil moved to another tank of the site: no run", "nothing; write a ticket if a truck was there"},
	{UnexplainedLoss, "agent/tank, agent/tankbook", "oil went that is no load: too slowly, over too long a gap, or by the balance of the days", "look for a leak or theft; write a ticket if a truck was there"},
	{WaterDraw, "agent/tank", "water was drawn: the oil/water interface fell with the level, or the tank is one of water (product: water)", "nothing"},

	{ConfigChanged, "agent, agent/ledger, cmd/gauger", "the configuration at work is another one, or is doubtful", "run gauger check where the note names a doubt"},
	{ConfigFailed, "cmd/gauger", "a changed configuration was refused, or was at work for a while and went back to the one before; Note says why", "run gauger apply --history on the box; correct the file and apply it again"},
	{Heartbeat, "cmd/gauger", "every so often, where heartbeat is set; Note has version, configuration and problems", "nothing; look at a site of which none comes any more"},
	{LoadNeedsReview, "agent/ledger", "a load was seen, and something about it should be judged by a person", "approve, edit or reject it with gauger tickets"},
	{PowerRestart, "agent", "gauger started after a run that did not end in order", "look at power if it comes again"},
	{ReadingsUnused, "agent/ledger", "readings came late and without a time of the device, and were not used", "let the device send its time, and name it with time: at the point"},
	{RecordUnwritable, "agent/ledger", "something cannot be written down and was left out; everything else goes on", "correct what the note names, or report it"},
	{TankInhibited, "agent/ledger", "somebody worked on a tank; what began meanwhile made no ticket", "write a ticket if a truck was there"},
	{TicketCorrection, "agent/ledger", "what is known now changes a ticket that has left", "if the ticket is wrong, gauger tickets add --replaces books another in its place, tickets reject --left none; have it voided in the accounting"},
	{TicketRejected, "agent/ledger", "a person has rejected a held ticket", "nothing"},
	{TicketUnwritable, "agent/ledger", "a load was seen and makes no ticket, since it cannot be written down", "write one with gauger tickets add if a truck was there"},
	{ValueRefused, "agent/ledger", "a value does not fit what the service takes, or nobody knows its time", "correct the tag value's configuration"},

	{KeyExpiring, "agent/cloud/keys", "a key ends in 30, 14 or 7 days and was not renewed", "gauger keys renew says why it fails, gauger keys set takes a new one"},
	{KeyFile, "agent/cloud/keys", "the key file is damaged, or cannot be written", "look at the disk; give the keys again with gauger keys set if none is accepted"},
	{KeyRefused, "agent/cloud/keys", "the service refuses a key, or both", "give new keys with gauger keys set if both are refused"},
	{KeyRenewalFailed, "agent/cloud/keys", "a key's renewal was refused, or has failed for two weeks", "gauger keys renew says why"},
	{KeyUnusable, "agent/cloud/keys", "a configured key cannot be one", "correct service.primary_key or secondary_key"},
	{OutboxDropped, "agent, agent/control", "records gave way to newer ones, or a person dropped them", "mend why nothing leaves, or make store.max_bytes larger"},
	{OutboxFull, "agent", "the quota or the disk takes no more records, or its space is not certain", "make room on the disk; mend why nothing leaves"},
	{OutboxSalvaged, "agent", "the outbox file was damaged or older than what was stored last, and was mended", "look at the disk and its power; compare tickets with the paper"},
	{OutboxShut, "agent/ledger", "the outbox could not be opened for a while; nothing was stored meanwhile", "compare the loads of that time with the paper"},
	{SendRejected, "agent", "the service refuses a record or everything; it waits, is parked or is a dead letter", "gauger outbox shows it with the service's answer: correct it, then retry, confirm (the service has it) or drop it"},
	{ServiceSettings, "cmd/gauger", "a setting of the service cannot be used", "correct it; it is looked at again by itself"},
}

// Do is what a person does about an event; empty: the rule is a site's own.
func Do(rule string) string {
	for _, r := range List {
		if r.Name == rule {
			return r.Do
		}
	}
	return ""
}
