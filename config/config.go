// Package config is the one YAML file of a site: its structs with their defaults, a strict reader that reports every
// mistake at its line and column, the shipped example, the effective file as it is printed, and its JSON Schema.
// The keys are the yaml tags of the structs; what a key means is its doc tag.
//
// A file goes through syntax.go (YAML, with the place of each mistake), decode.go and scalar.go (into the structs of
// config.go, tank.go, values.go, secret.go and device.go, by their tags), check*.go, complete.go (what follows from other
// keys, and the points that a template makes) and shard.go (what several instances leave to each other); load.go is that
// road.
// report.go keeps the mistakes, and finds the word that was meant; locate.go finds their places; changes.go says what two
// configurations have differently, and which devices cannot be parted; edit.go changes one value in a text, print.go and schema.go
// write what was read and what may be written. What a device may say is a table: kinds.go has a row for each kind, kind_*.go its options; template.go lays a device's keys over a register map that
// gauger brings along.
//
// Decisions:
//   - What the version before took starts in run; only check refuses it. Config.Strict holds such values: each is replaced,
//     where something is known that can be lived with (check_strict.go, cloud.Wire.Mend), and said in log, event and status, by
//     the last good copy too. A new rule about a value belongs there, never among the mistakes. `make prove-config` writes odd
//     files from the schema and runs what is let through.
//   - A file of the units' credentials is root's alone. A site that names it by {file: PATH}, as before there were credentials,
//     gets what systemd hands over of it (secret.go); check says how to write that.
//   - A register map is data: keys of a device, over which its own are laid in the tree of the file, before anything is
//     decoded, so that a device by template is checked, printed and read as any other.
//   - A point that a template of an MQTT device would make becomes one of its own where something names it.
package config

import (
	"net/netip"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/collectors/modbus"
)

// Config is a whole configuration with its defaults filled in. Load and Parse make it; relative file names are
// resolved against the file's folder.
type Config struct {
	Site          string     `yaml:"site,required" doc:"name of the site, for people: logs and the status page"`
	ID            string     `yaml:"id,required" doc:"short name in every ticket number: A-Z 0-9 -, at most 12 characters"`
	Object        string     `yaml:"object" doc:"GUID that gauger's own diagnostics name; devices, tanks and events without their own inherit it"`
	ObjectType    string     `yaml:"object_type" doc:"type of that object in the service. Default Device"`
	TimeZone      string     `yaml:"time_zone" doc:"the site's local time, as in America/Chicago. Default: the box's"`
	ProductionDay TimeOfDay  `yaml:"production_day" doc:"local time at which the production day begins. Default 07:00"`
	Service       Service    `yaml:"service,required" doc:"the web service that takes the tickets"`
	Store         Store      `yaml:"store" doc:"where records wait until the service has taken them"`
	Flash         Flash      `yaml:"flash" doc:"the memory that the store is on, so that status tells how long it lasts"`
	Recorder      Recorder   `yaml:"recorder" doc:"the readings that are kept on this box, for backtest and export"`
	Link          Link       `yaml:"link" doc:"pacing of requests"`
	Tickets       Tickets    `yaml:"tickets" doc:"when a run ticket leaves"`
	Book          Book       `yaml:"book" doc:"the tank book: stocks, production, runs and what is left unexplained, day by day"`
	Loads         tank.Loads `yaml:"loads" doc:"the load detector's settings for every tank; a tank's own loads go over them"`
	Devices       []Device   `yaml:"devices" doc:"what is read: each entry has one of the keys modbus, mqtt, recording and host"`
	Tanks         []Tank     `yaml:"tanks" doc:"the tanks whose levels make run tickets"`
	Events        []Event    `yaml:"events" doc:"rules that make diagnostic events from points"`
	Wells         []Well     `yaml:"wells" doc:"values that are sent for wells"`
	HTTP          HTTP       `yaml:"http" doc:"local status page, /api/v1, /metrics, /healthz and /readyz; off when absent"`
	Share         Share      `yaml:"share" doc:"who may read the devices that are shared (share: of a Modbus device)"`
	Control       Control    `yaml:"control" doc:"who of those who may connect to the control socket may do what; absent: they may do everything"`
	Log           Log        `yaml:"log" doc:"the log on standard error"`
	Pull          Pull       `yaml:"config" doc:"where this site takes its configuration from, signed; absent: from its file alone"`

	Heartbeat time.Duration `yaml:"heartbeat" doc:"how often an event tells version, configuration and problems, as in 24h. Default 0: never"`

	// Shard is the part of the site that this instance watches; what is not its own is not here.
	Shard Shard `yaml:"-"`
	// Zone is TimeZone, resolved.
	Zone *time.Location `yaml:"-"`
	// Warnings are legal but doubtful things, in the order of the file's lines.
	Warnings []Problem `yaml:"-"`
	// Budgets are the shares that the Modbus devices take of the time of their lines.
	Budgets []modbus.Budget `yaml:"-"`
	// Slow are the lines that cannot keep up with the intervals asked of them. Whoever sets up a site must not let
	// that pass unseen; a site that runs goes on, with each poll later than asked for.
	Slow []Problem `yaml:"-"`
	// Strict are the values that `check` refuses and an earlier version took, and what a site can begin without. A site that has them in
	// its file must start after an upgrade: what they were replaced by stands in the messages.
	Strict []Problem `yaml:"-"`

	hash   uint32
	tankAt []int // of a shard, which tank of the file each is
}

// Service is the web service and how gauger speaks to it.
type Service struct {
	URL          string     `yaml:"url,required" doc:"base address, as in https://api.example.com; http only toward the box itself"`
	PrimaryKey   Secret     `yaml:"primary_key,required" doc:"primary subscription key: {credential: NAME}, {file: PATH} or {env: NAME}"`
	SecondaryKey Secret     `yaml:"secondary_key" doc:"secondary subscription key, used when the primary is refused"`
	Login        *Login     `yaml:"login" doc:"Authenticate with these when both keys are refused; send only what is given"`
	Wire         cloud.Wire `yaml:"wire" doc:"what the service's description leaves open, one key for each choice"`
	// SecretHeaders are headers of every request whose values are secrets.
	SecretHeaders map[string]Secret `yaml:"secret_headers" doc:"further headers of every request whose values are secrets, as in {Authorization: {credential: gateway-key}}; the whole value is the secret, as Bearer and the token"`
	Segments      cloud.Segments    `yaml:"segments" doc:"the two literal path segments of the service"`
	CAFile        string            `yaml:"ca_file" doc:"PEM file of the authorities that may sign the service's certificate. Default: the system's"`
}

// Login has the members of the Authenticate request, any subset of them, and the key that lets the request through the gateway.
type Login struct {
	Type            string `yaml:"type" doc:"authenticationType, as the service's operator names it"`
	Customer        string `yaml:"customer" doc:"customerGuid"`
	User            string `yaml:"user" doc:"userName"`
	PasswordHash    Secret `yaml:"password_hash" doc:"passwordHash, sent as it is"`
	Token           Secret `yaml:"token" doc:"token"`
	APIKey          Secret `yaml:"api_key" doc:"apiKey"`
	Feature         string `yaml:"feature" doc:"feature"`
	SubscriptionKey Secret `yaml:"subscription_key" doc:"key in the header of the Authenticate request, which the gateway must accept"`
}

// Store is the folder of the state: outbox, keys, last good configuration.
type Store struct {
	Path     string        `yaml:"path" doc:"folder of outbox, keys and state. Default /var/lib/gauger"`
	MaxBytes Size          `yaml:"max_bytes" doc:"disk space reserved for the outbox, as in 64MiB. Default 64MiB"`
	Linger   time.Duration `yaml:"linger" doc:"tag values and targets that are polled wait so long for others to leave with, and are stored unless the service takes them at once, 0s to 30s: the longer, the less is written to the card, and the more of them a power cut or a kill costs. Tickets, events, memos and what a broker brings never wait. Default 1s"`
	Shares   Shares        `yaml:"shares" doc:"percent of that which each kind of record may use at most; tickets and memos have no limit and never give way"`

	Refused  Refused  `yaml:"refused" doc:"how much is stored of a device's messages that cannot be decoded; beyond it all but the first three of a topic are counted and dropped"`
	Receipts Receipts `yaml:"receipts" doc:"what is kept of records that the service has taken: when, its status, its correlation id"`
}

// Refused is the budget of each device's messages that cannot be decoded, so that one that talks nonsense does not wear out the flash. It
// begins with all of messages and max_bytes, and comes back by max_bytes_per_day.
type Refused struct {
	Messages int  `yaml:"messages" doc:"so many at once. Default 2000"`
	Bytes    Size `yaml:"max_bytes" doc:"so much at once. Default 4MB"`
	Day      Size `yaml:"max_bytes_per_day" doc:"and then so much a day. Default 5MB"`
}

// Flash is the memory that the store is on.
type Flash struct {
	Size   Size `yaml:"size" doc:"of the card or eMMC, as in 8GB. Default: not known, and nothing is said about its life"`
	Cycles int  `yaml:"cycles" doc:"how often its cells may be written, by its data sheet: some 3000 for MLC, 500 to 1000 for TLC and QLC, 30000 for SLC or pSLC"`
}

// Receipts bound what is kept of delivered records. Where days need more than the bytes, the bytes win: tag values'
// receipts go first, tickets' last.
type Receipts struct {
	Days     int  `yaml:"days" doc:"they are kept at least so long, as far as max_bytes reach. Default 62"`
	MaxBytes Size `yaml:"max_bytes" doc:"disk space for them, beside the outbox's; 256 bytes each. Default 16MiB"`
}

// Shares bound what each stream of the outbox may use, dead letters included: so that no kind of record takes the room
// of the others. Together they may be more than 100: when all is full, tag values give way first and events last.
type Shares struct {
	Events    int `yaml:"events" doc:"diagnostic events; beyond it the oldest give way. Default 50"`
	TagValues int `yaml:"tag_values" doc:"tag values; beyond it the older ones are thinned, one in eight is kept. Default 50"`
	Targets   int `yaml:"targets" doc:"production targets; beyond it the oldest give way. Default 25"`
	Refused   int `yaml:"refused" doc:"messages of devices that could not be decoded; beyond it the oldest give way. Default 10"`
}

// Recorder bounds the ring of readings in the store's folder.
type Recorder struct {
	MaxBytes Size `yaml:"max_bytes" doc:"disk space for the readings, beside the outbox's; 0: none are kept. Default 64MiB"`
	Days     int  `yaml:"days" doc:"readings older than this are deleted, a file of them at a time. Default 30"`
}

// Link is the pacing of requests.
type Link struct {
	Rate           Rate     `yaml:"rate" doc:"requests a second at most (0.5: one in two seconds, 6/min: six a minute), or off. Default 1, and off toward the box itself"`
	MaxBytesPerDay Size     `yaml:"max_bytes_per_day" doc:"what may cross the link in a local day, both ways, as in 5MB: tag values wait at 80 % of it, targets at 90 %, events and memos at 95 %; tickets still leave when it is spent, one every 15 minutes. Default 0: no limit"`
	Windows        []Window `yaml:"windows" doc:"local times of day in which tag values and targets leave, as in 22:00-06:00; tickets, events and memos leave at any time. Default: always"`
}

// Tickets says when a run ticket leaves.
type Tickets struct {
	Hold   time.Duration `yaml:"hold" doc:"time after the end of a load before its ticket is sent, at least the detector's confirm. Default: confirm"`
	Review string        `yaml:"review" words:"send hold" doc:"send: doubtful tickets leave, marked; hold: they wait until a person releases them. Default send"`
}

// Book says when the tank book tells of a loss.
type Book struct {
	LossLimit float64 `yaml:"loss_limit" doc:"barrels that a tank may lose in a production day unexplained; three quarters of it a day over two or three days. Default 0.8"`
}

// HTTP is the local web server; off when Listen is empty.
type HTTP struct {
	Listen string            `yaml:"listen" doc:"address and port, as in 127.0.0.1:8480"`
	Hosts  []string          `yaml:"hosts" doc:"names under which browsers and other programs ask for the page, as in rtu-7.example.com. Default: IP addresses, localhost, the name in listen and the box's own are enough"`
	Tokens map[string]Secret `yaml:"tokens" doc:"who may hold, release and edit tickets, inhibit tanks, send again and write memos from the page, each under the name here, as in {ann: {credential: page-token}}; the secret has at least 16 characters. Default: the page only shows"`
}

// Share says who may read shared devices.
type Share struct {
	Masters []Network `yaml:"masters" doc:"addresses and networks of the masters, as in 10.20.0.9 or 10.20.0.0/24; 127.0.0.1 for programs on the box. Default: everybody who reaches the address"`
}

// Prefixes are the masters.
func (s Share) Prefixes() (all []netip.Prefix) {
	for _, n := range s.Masters {
		all = append(all, netip.Prefix(n))
	}
	return all
}

// Control gives roles to groups of the box. They are among those who may connect at all, group gauger's members. A role that is
// not given is everybody's; nil is not the same as no group.
type Control struct {
	Look    []string `yaml:"look" doc:"groups whose members may look; so may those who may operate or change keys. Default: all members of group gauger"`
	Operate []string `yaml:"operate" doc:"groups whose members may change tickets, tanks and the outbox and scan lines. Default: all members of group gauger"`
	Keys    []string `yaml:"keys" doc:"groups whose members may set and renew keys and log in. Default: all members of group gauger"`
}

// Pull says where a site of a fleet takes its configuration from.
type Pull struct {
	From    string        `yaml:"from" doc:"https address of the site's file, in which {id} stands for its id, as in https://conf.example.com/{id}.yaml; its signature lies beside it, with .minisig or .sig behind the name"`
	Key     string        `yaml:"key" doc:"public key of who signs it: minisign's, or an ssh-ed25519 one (ssh-keygen -Y sign -n gauger -f KEY FILE)"`
	Every   time.Duration `yaml:"every" doc:"how often it is looked for. Default 1h"`
	Percent int           `yaml:"percent" doc:"of a file that is pulled: so many percent of the sites take it, by the hash of their ids. 1 tries it on one site in a hundred. Default 100"`
}

// Log is the log on standard error.
type Log struct {
	Level string `yaml:"level" words:"trace debug info warn error" doc:"least level that is written. Default info"`
}

// Event is a rule that makes a diagnostic event while a point is in a condition. Exactly one of Above, Below,
// Equals, Bit, Stale and Bad is set.
type Event struct {
	Rule       string           `yaml:"rule,required" doc:"name of the rule in the service"`
	Object     string           `yaml:"object" doc:"GUID of the object that the event names. Default: the device's, then the site's"`
	ObjectType string           `yaml:"object_type" doc:"type of that object"`
	Point      collectors.Point `yaml:"point,required" doc:"the point to watch, as DEVICE/POINT"`
	Above      *float64         `yaml:"above" doc:"opens above this value, in the point's unit"`
	Below      *float64         `yaml:"below" doc:"opens below this value"`
	Equals     *float64         `yaml:"equals" doc:"opens at this value"`
	Bit        *int             `yaml:"bit" doc:"opens while this bit of the value is set, 0 (least) to 63"`
	Stale      time.Duration    `yaml:"stale" doc:"opens when no good reading came for this long"`
	Bad        bool             `yaml:"bad" doc:"true: opens while the point's readings are bad"`
	Clear      *float64         `yaml:"clear" doc:"closes only at this value, for above and below. Default: the limit itself"`
	For        time.Duration    `yaml:"for" doc:"the condition must last this long, by the readings' own times. Default: at once, with the first reading; for a tank's level and for bad, where one may be a false echo or a lost poll, with the second or after 30s"`
	Urgent     bool             `yaml:"urgent" doc:"true: sent when it opens and again when it closes; false: once, when it closes. It ends with the first reading back, and is sent after three such or 30s"`
	Note       string           `yaml:"note" doc:"text of the event; {value}, {unit} and {point} are filled in"`
}

// Well is an object of the service that gets values.
type Well struct {
	ID        string     `yaml:"id,required" doc:"id of the well in the service"`
	TagValues []TagValue `yaml:"tag_values" doc:"values saved as tag values"`
	Targets   []Target   `yaml:"targets" doc:"values saved as production targets"`
}

// TagValue sends a point's value under a data classification code.
type TagValue struct {
	Code  string           `yaml:"code,required" doc:"data classification code, one of service.wire.codes"`
	Point collectors.Point `yaml:"point,required" doc:"the point that has the value, as DEVICE/POINT"`
	Every time.Duration    `yaml:"every" doc:"interval, of which the first good reading counts; 0s: every good reading. Default 1h"`
}

// Target sends a point's value as a production target.
type Target struct {
	Code  string           `yaml:"code,required" doc:"data classification code"`
	Point collectors.Point `yaml:"point,required" doc:"the point that has the value, as DEVICE/POINT"`
	Every time.Duration    `yaml:"every" doc:"interval, of which the first good reading counts; 0s: every good reading. Default 24h"`
}

func (Config) defaults() any { return defaultConfig() }

func (TagValue) defaults() any { return TagValue{Every: time.Hour} }

func (Target) defaults() any { return Target{Every: 24 * time.Hour} }

func defaultConfig() Config {
	return Config{
		ObjectType:    "Device",
		ProductionDay: TimeOfDay(7 * time.Hour),
		Service:       Service{Wire: cloud.DefaultWire(), Segments: cloud.Segments{Alpha: "vAlpha", Beta: "vBeta"}},
		Store: Store{Path: "/var/lib/gauger", MaxBytes: 64 << 20, Linger: time.Second, Shares: Shares{Events: 50, TagValues: 50, Targets: 25, Refused: 10},
			Refused: Refused{Messages: 2000, Bytes: 4e6, Day: 5e6}, Receipts: Receipts{Days: 62, MaxBytes: 16 << 20}},
		Recorder: Recorder{MaxBytes: 64 << 20, Days: 30},
		Link:     Link{Rate: rateByPlace},
		Tickets:  Tickets{Review: "send"},
		Book:     Book{LossLimit: 0.8},
		Loads:    tank.DefaultLoads(),
		Log:      Log{Level: "info"},
	}
}
