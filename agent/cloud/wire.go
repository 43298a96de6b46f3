package cloud

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Wire holds every choice that the interface specification leaves open. DefaultWire gives the defaults; a
// configuration is decoded over them. Units inside the program are inches, degrees Fahrenheit and percent.
type Wire struct {
	LevelUnit           string `yaml:"level_unit" doc:"unit of openingLevel and closingLevel: in, ft, m or cm. Default in"`
	LevelDecimals       *int   `yaml:"level_decimals" doc:"decimal places of levels. Default by unit: in 2, ft 3, cm 2, m 4"`
	TemperatureUnit     string `yaml:"temperature_unit" doc:"unit of topTemperature and bottomTemperature: degF or degC. Default degF"`
	TemperatureDecimals int    `yaml:"temperature_decimals" doc:"decimal places of temperatures. Default 1"`
	Gravity             string `yaml:"gravity" doc:"basis of specificGravity: at60 (60/60 degF) or observed. Default at60"`
	GravityDecimals     int    `yaml:"gravity_decimals" doc:"decimal places of specificGravity. Default 4"`
	BSW                 string `yaml:"bsw" doc:"unit of bsw: percent or fraction. Default percent"`
	BSWDecimals         *int   `yaml:"bsw_decimals" doc:"decimal places of bsw. Default percent 2, fraction 4"`

	Omit []string `yaml:"omit" doc:"optional ticket fields that are never sent: topTemperature, bottomTemperature, specificGravity, bsw"`

	TimeLayout string `yaml:"time_layout" doc:"layout of start, end, sealOn and sealOff as Go writes layouts. Default 2006-01-02T15:04:05-07:00"`
	TimeZone   string `yaml:"time_zone" doc:"zone of ticket times: site, utc, or none (site time without an offset). Default site"`
	SealMode   string `yaml:"seal_mode" doc:"what sealOff and sealOn hold: time (start and end), static (seal_off and seal_on) or empty. Default time"`
	SealOn     string `yaml:"seal_on" doc:"text of sealOn with seal_mode static"`
	SealOff    string `yaml:"seal_off" doc:"text of sealOff with seal_mode static"`

	NumberMax   int `yaml:"number_max" doc:"longest ticketNumber in characters, at least 12; a longer one is shortened, with a hash. Default 40"`
	CommentsMax int `yaml:"comments_max" doc:"longest comments in characters; the rest is cut. Default 500"`
	NoteMax     int `yaml:"note_max" doc:"longest note of an event in characters; the rest is cut. Default 500"`

	EventID     string `yaml:"event_id" doc:"what an event's ID holds: 'null', omit (no ID at all) or string (an id made of object, rule and start). Default null"`
	EventNames  string `yaml:"event_names" doc:"names of an event's object: schema (objectGuid, objectTypeID), sample (objectID, objectType) or both. Default schema"`
	EventZone   string `yaml:"event_zone" doc:"zone of an event's times, which carry no offset: utc or site. Default utc"`
	RangeLayout string `yaml:"range_layout" doc:"layout of startTime and endTime when events are read, in UTC. Default 2006-01-02T15:04:05Z"`

	ValueScale    float64  `yaml:"value_scale" doc:"tag values and targets are multiplied by this before they are rounded to whole numbers. Default 1"`
	ValueRounding float64  `yaml:"value_rounding" doc:"largest rounding error in percent of the value; a larger one is refused. Default 2"`
	Codes         []string `yaml:"codes" doc:"data classification codes that tag values may have. Default: the six of the service"`
	TargetCodes   []string `yaml:"target_codes" doc:"data classification codes known for production targets; another one is a warning. Default: the six of the service"`

	MemoText  string `yaml:"memo_text" doc:"name of the property with a memo's text. Default text"`
	MemoEmail string `yaml:"memo_email" doc:"name of the property with the e-mail address of a memo's author. Default email"`

	Batch Batch `yaml:"batch" doc:"most records in one request"`

	Devices DevicePaths `yaml:"devices" doc:"where the fields of queried devices are"`
	Events  EventPaths  `yaml:"events" doc:"where the fields of read events are"`

	ResultOK   []int             `yaml:"result_ok" doc:"values of result that mean a login worked. Default: any, when isLoggedIn is true and a key came"`
	AcceptHTML bool              `yaml:"accept_html" doc:"a 2xx with a web page, a script, an image or broken JSON counts as the service's answer; otherwise everything is kept, since a maintenance page, a portal or a gateway answers so. Default false"`
	Headers    map[string]string `yaml:"headers" doc:"further headers of every request; {idToken} stands for the token of the last login, and such a header is left out while there is none"`
	RenewEvery time.Duration     `yaml:"renew_every" doc:"how often each key is renewed; the other one follows half of it later. At least 48h. Default 168h"`

	ConnectTimeout time.Duration `yaml:"connect_timeout" doc:"limit of making a connection. Default 10s"`
	RequestTimeout time.Duration `yaml:"request_timeout" doc:"limit of a whole request, to which a second for each KB of its body is added; after an answer that did not come in time the next is awaited twice as long, and four times at most. Default 30s"`
	Proxy          string        `yaml:"proxy" doc:"http://host:port of a proxy. Default none; the environment is not asked"`

	// Zone is the site's time zone; nil means UTC. It is not a choice of the wire, so it has no key here.
	Zone *time.Location `yaml:"-"`
}

// Units are the settings by which a ticket's figures are other numbers, or its times other texts, by key.
func (w Wire) Units() map[string]string {
	return map[string]string{"level_unit": w.LevelUnit, "temperature_unit": w.TemperatureUnit, "gravity": w.Gravity, "bsw": w.BSW, "time_zone": w.TimeZone, "time_layout": w.TimeLayout}
}

// Batch is the largest number of records in one request of each kind; 0 means 1. Memos always go alone.
type Batch struct {
	Tickets   int  `yaml:"tickets" doc:"run tickets in one request. Default 1"`
	Events    int  `yaml:"events" doc:"diagnostic events in one request. Default 50"`
	TagValues *int `yaml:"tag_values" doc:"tag values of one well in one request, where those of one code make one set. Default 20, and up to 500 while the service takes full requests within a second"`
	Targets   *int `yaml:"targets" doc:"targets of one well in one request, where those of one code make one set. Default as tag_values"`
}

// Sizes of a request of values: the most that a number which is written may say is also what they grow to where none is.
const (
	valuesAtFirst = 20
	mostInBatch   = 500
)

// OfValues is how many values one request has, of a number that may not be written, and how many at most when requests grow; 0: they
// do not, since a person has said how many.
func OfValues(written *int) (first, most int) {
	if written != nil {
		return *written, 0
	}
	return valuesAtFirst, mostInBatch
}

// DevicePaths say where the fields of a device are in an answer. Each is a path such as data.items[0].id, or
// several with | between them, of which the first that leads somewhere counts.
type DevicePaths struct {
	List           string `yaml:"list" doc:"path of the list. Default: the answer itself if it is a list, else its only list"`
	ID             string `yaml:"id" doc:"path of the id within a device"`
	Identifier     string `yaml:"identifier" doc:"path of the identifier within a device"`
	Name           string `yaml:"name" doc:"path of the name within a device"`
	ExternalID     string `yaml:"external_id" doc:"path of the external id within a device"`
	OrganizationID string `yaml:"organization_id" doc:"path of the organization's id within a device"`
}

// EventPaths say where the fields of an event are in an answer; see DevicePaths.
type EventPaths struct {
	List       string `yaml:"list" doc:"path of the list. Default: the answer itself if it is a list, else its only list"`
	ID         string `yaml:"id" doc:"path of the id within an event"`
	Start      string `yaml:"start" doc:"path of the start within an event"`
	End        string `yaml:"end" doc:"path of the end within an event"`
	ObjectID   string `yaml:"object_id" doc:"path of the object's id within an event"`
	ObjectType string `yaml:"object_type" doc:"path of the object's type within an event"`
	Rule       string `yaml:"rule" doc:"path of the rule's name within an event"`
	Note       string `yaml:"note" doc:"path of the note within an event"`
}

// sixCodes are the data classification codes that the service takes for tag values (interface specification 2.5).
func sixCodes() []string {
	return []string{
		"Average Cost per BBL, Oil",
		"Average Cost per BBL, Water",
		"Average Cost per MCF",
		"Production Target Gas",
		"Production Target Oil",
		"Production Target Water",
	}
}

// DefaultWire gives the default of every choice.
func DefaultWire() Wire {
	return Wire{
		LevelUnit:       "in",
		TemperatureUnit: "degF", TemperatureDecimals: 1,
		Gravity: "at60", GravityDecimals: 4,
		BSW:        "percent",
		TimeLayout: "2006-01-02T15:04:05-07:00", TimeZone: "site",
		SealMode:  "time",
		NumberMax: 40, CommentsMax: 500, NoteMax: 500,
		EventID: "null", EventNames: "schema", EventZone: "utc",
		RangeLayout: "2006-01-02T15:04:05Z",
		ValueScale:  1, ValueRounding: 2,
		Codes: sixCodes(), TargetCodes: sixCodes(),
		MemoText: "text", MemoEmail: "email",
		Batch: Batch{Tickets: 1, Events: 50},
		Devices: DevicePaths{
			ID: "id|deviceId|guid", Identifier: "deviceIdentifier|identifier", Name: "deviceName|name",
			ExternalID: "externalId|externalID", OrganizationID: "organizationId|organization.id",
		},
		Events: EventPaths{
			ID: "id|ID|eventId", Start: "startTime|startTimeString|start", End: "endTime|endTimeString|end",
			ObjectID: "objectId|objectGuid|objectID", ObjectType: "objectType|objectTypeID",
			Rule: "ruleName|rule", Note: "note|message",
		},
		RenewEvery:     7 * 24 * time.Hour,
		ConnectTimeout: 10 * time.Second, RequestTimeout: 30 * time.Second,
	}
}

// Problem is one mistake in the settings: the key below wire, and what is wrong with what would be right.
type Problem struct{ Key, Message string }

// Error joins key and message.
func (p Problem) Error() string { return p.Key + ": " + p.Message }

// Check lists every mistake in the settings; none means that they can be used.
func (w Wire) Check() []Problem {
	var found []Problem
	bad := func(key, format string, args ...any) {
		found = append(found, Problem{key, fmt.Sprintf(format, args...)})
	}
	w.checkWords(bad)
	w.checkNumbers(bad)
	w.checkLists(bad)
	for _, p := range w.paths() {
		if _, err := parsePath(p[1]); err != nil {
			bad(p[0], "%v", err)
		}
	}
	for name := range w.Headers {
		if reservedHeader(name) {
			bad("headers", "%s is set by gauger itself; remove it", name)
		}
	}
	if w.Proxy != "" {
		if u, err := url.Parse(w.Proxy); err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil {
			bad("proxy", "want http://host:port, without a user")
		}
	}
	return found
}

func (w Wire) checkWords(bad func(key, format string, args ...any)) {
	word := func(key, have string, allowed ...string) {
		if !slices.Contains(allowed, have) {
			bad(key, "%q is not known; use %s", have, strings.Join(allowed, ", "))
		}
	}
	word("level_unit", w.LevelUnit, "in", "ft", "m", "cm")
	word("temperature_unit", w.TemperatureUnit, "degF", "degC")
	word("gravity", w.Gravity, "at60", "observed")
	word("bsw", w.BSW, "percent", "fraction")
	word("time_zone", w.TimeZone, "site", "utc", "none")
	word("seal_mode", w.SealMode, "time", "static", "empty")
	word("event_id", w.EventID, "null", "omit", "string")
	word("event_names", w.EventNames, "schema", "sample", "both")
	word("event_zone", w.EventZone, "utc", "site")
	for _, f := range w.Omit {
		word("omit", f, "topTemperature", "bottomTemperature", "specificGravity", "bsw")
	}
	filled := func(key, have string) {
		if have == "" {
			bad(key, "must not be empty")
		}
	}
	layout := func(key, have string) {
		sample := time.Date(2031, 11, 22, 17, 44, 55, 0, time.UTC)
		if t, err := time.Parse(have, sample.Format(have)); err != nil || t.Year() != 2031 || t.Day() != 22 || t.Minute() != 44 {
			bad(key, "%q does not give date and time; write the example 2006-01-02T15:04:05-07:00 in the wanted form", have)
		}
	}
	layout("time_layout", w.TimeLayout)
	layout("range_layout", w.RangeLayout)
	filled("memo_text", w.MemoText)
	filled("memo_email", w.MemoEmail)
	if w.MemoText != "" && w.MemoText == w.MemoEmail {
		bad("memo_email", "must differ from memo_text")
	}
}

func (w Wire) checkNumbers(bad func(key, format string, args ...any)) {
	between := func(key string, have, low, high int) {
		if have < low || have > high {
			bad(key, "%d is out of range; use %d to %d", have, low, high)
		}
	}
	if w.LevelDecimals != nil {
		between("level_decimals", *w.LevelDecimals, 0, 6)
	}
	if w.BSWDecimals != nil {
		between("bsw_decimals", *w.BSWDecimals, 0, 6)
	}
	between("temperature_decimals", w.TemperatureDecimals, 0, 6)
	between("gravity_decimals", w.GravityDecimals, 0, 6)
	between("number_max", w.NumberMax, 1, 200)
	between("comments_max", w.CommentsMax, 1, 10000)
	between("note_max", w.NoteMax, 1, 10000)
	between("batch.tickets", w.Batch.Tickets, 0, mostInBatch)
	between("batch.events", w.Batch.Events, 0, mostInBatch)
	values, _ := OfValues(w.Batch.TagValues)
	targets, _ := OfValues(w.Batch.Targets)
	between("batch.tag_values", values, 0, mostInBatch)
	between("batch.targets", targets, 0, mostInBatch)
	if !(w.ValueScale > 0) || w.ValueScale > 1e9 {
		bad("value_scale", "want a number above 0, at most 1e9")
	}
	if !(w.ValueRounding >= 0 && w.ValueRounding <= 100) {
		bad("value_rounding", "want a percentage from 0 to 100")
	}
	if w.RenewEvery < 48*time.Hour || w.RenewEvery > 60*24*time.Hour {
		bad("renew_every", "want 48h to 1440h, so that the two keys are never renewed in one day and none expires")
	}
	if w.ConnectTimeout <= 0 || w.ConnectTimeout > 5*time.Minute {
		bad("connect_timeout", "want more than 0s and at most 5m")
	}
	if w.RequestTimeout <= 0 || w.RequestTimeout > time.Hour {
		bad("request_timeout", "want more than 0s and at most 1h")
	}
}

func (w Wire) checkLists(bad func(key, format string, args ...any)) {
	list := func(key string, codes []string) {
		if len(codes) == 0 {
			bad(key, "must name at least one code")
		}
		if slices.Contains(codes, "") {
			bad(key, "a code must not be empty")
		}
	}
	list("codes", w.Codes)
	list("target_codes", w.TargetCodes)
}

// paths pairs every path with its key.
func (w Wire) paths() [][2]string {
	d, e := w.Devices, w.Events
	return [][2]string{
		{"devices.list", d.List}, {"devices.id", d.ID}, {"devices.identifier", d.Identifier}, {"devices.name", d.Name},
		{"devices.external_id", d.ExternalID}, {"devices.organization_id", d.OrganizationID},
		{"events.list", e.List}, {"events.id", e.ID}, {"events.start", e.Start}, {"events.end", e.End},
		{"events.object_id", e.ObjectID}, {"events.object_type", e.ObjectType}, {"events.rule", e.Rule}, {"events.note", e.Note},
	}
}

// reservedHeader names the headers that a setting must not touch. Idempotency-Key would make Go's client repeat
// a POST by itself.
func reservedHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case keyHeader, "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Host", "Accept",
		"Accept-Encoding", "User-Agent", "Expect", "Upgrade", "Idempotency-Key", "X-Idempotency-Key":
		return true
	}
	return false
}

// HeaderProblem says why a header cannot have this name; empty: it can.
func HeaderProblem(name string) string {
	switch {
	case !headerName(name):
		return fmt.Sprintf("%q is no name of a header; use letters, digits and -", name)
	case reservedHeader(name):
		return name + " is set by gauger itself; remove it"
	}
	return ""
}

// secretNames are parts of the names of headers whose values nobody else may know.
var secretNames = []string{"authorization", "key", "token", "secret", "password", "cookie", "signature", "credential"}

// SecretHeader says that the value of a header looks like a secret: by the header's name, or since it could be nothing else. The
// token of a login ({idToken}) is none that stands there.
func SecretHeader(name, value string) bool {
	rest := strings.TrimSpace(strings.ReplaceAll(value, "{idToken}", ""))
	scheme, given, _ := strings.Cut(rest, " ")
	switch known := strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic"); {
	case rest == "" || known && strings.TrimSpace(given) == "":
		return false
	case known, looksRandom(rest):
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}

// leastRandom is the shortest value, in characters, that is taken for a key by its look alone.
const leastRandom = 20

// looksRandom says that a text is one long word of letters and digits, as keys are. An id with hyphens is none.
func looksRandom(text string) bool {
	digits, letters := 0, 0
	for _, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letters++
		case !strings.ContainsRune("+/=_", r):
			return false
		}
	}
	return len(text) >= leastRandom && digits > 2 && letters > 2
}

// levelDecimals is enough for a hundredth of an inch in any unit, unless the setting says otherwise.
func (w Wire) levelDecimals() int {
	if w.LevelDecimals != nil {
		return *w.LevelDecimals
	}
	switch w.LevelUnit {
	case "ft":
		return 3
	case "m":
		return 4
	}
	return 2
}

func (w Wire) bswDecimals() int {
	if w.BSWDecimals != nil {
		return *w.BSWDecimals
	}
	if w.BSW == "fraction" {
		return 4
	}
	return 2
}

func (w Wire) zone() *time.Location {
	if w.Zone == nil {
		return time.UTC
	}
	return w.Zone
}
