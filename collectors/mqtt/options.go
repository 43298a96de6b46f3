package mqtt

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"gauger/collectors"
)

// Brokers are the addresses of a broker, or of several that stand in for each other: the first that lets us in is used,
// and after a loss of the connection they are tried from the first again.
type Brokers []string

// Device is one source behind an MQTT broker. Devices that name the same brokers and client id share one session.
type Device struct {
	Name     string                 `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	Brokers  Brokers                `yaml:"mqtt" doc:"mqtt://host:1883, mqtts://host:8883, ws://host/path or wss://host/path; several in a list are tried in turn"`
	ClientID string                 `yaml:"client_id" doc:"fixed client id of the persistent session. Default gauger-SITEID-NAME"`
	Username string                 `yaml:"username" doc:"user name at the broker"`
	Password func() (string, error) `yaml:"-"` // asked at every connect, so that a changed secret needs no restart
	Zone     *time.Location         `yaml:"-"` // of times that do not say theirs; nil: the box's
	CAFile   string                 `yaml:"ca_file" doc:"PEM file of the authorities that may sign the broker's certificate. Default: the system's"`
	CertFile string                 `yaml:"cert_file" doc:"PEM file of the client certificate"`
	KeyFile  string                 `yaml:"key_file" doc:"PEM file of the client certificate's key"`
	Server   string                 `yaml:"server_name" doc:"name in the broker's certificate, when it is another than in the address"`
	Status   string                 `yaml:"status_topic" doc:"topic on which online is retained while the session is connected, and offline otherwise (last will). Default: none"`
	// SparkplugHost makes the session a Sparkplug primary host; STATE/ID speaks version 2 of the specification.
	SparkplugHost string  `yaml:"sparkplug_host" doc:"be the Sparkplug primary host of this id, for edge nodes that hold their data back until it is online; STATE/ID where the nodes speak version 2. Default: none"`
	ListenOnly    bool    `yaml:"listen_only" doc:"publish nothing, not even the request to a Sparkplug node to tell its birth again. Default false"`
	Points        []Point `yaml:"points" doc:"what to take from which topic"`
}

// Point is one value in the messages of one topic.
type Point struct {
	Name        string    `yaml:"name" doc:"name of the point within its device; with + in the topic, {1} stands for what the first + is, {2} for the second"`
	Topic       string    `yaml:"topic" doc:"topic, or topic filter with + and #; $share/GROUP/FILTER shares the messages with others of a group"`
	Sparkplug   string    `yaml:"sparkplug" doc:"instead of a topic: the Sparkplug B node that publishes the metric, GROUP/NODE or GROUP/NODE/DEVICE"`
	Metric      string    `yaml:"metric" doc:"name of the metric in the birth of that node or device"`
	Value       string    `yaml:"value" doc:"path of the value in a JSON payload: level.in, values[0].v, [\"a.b\"]; [*].v takes every element of a list. None: the payload itself is the number"`
	Time        string    `yaml:"time" doc:"path of the time in a JSON payload: RFC 3339, the zone may be missing, or seconds, milliseconds or microseconds since 1970. None: the time of arrival"`
	TimeZone    string    `yaml:"time_zone" doc:"the zone of times that do not say theirs: site, utc or box. Default: found out once from live messages, and remembered"`
	Quality     string    `yaml:"quality" doc:"path of the value's quality in a JSON payload: good, ok, valid, uncertain, true, false, or an OPC number (192 good, 64 uncertain, 0 bad)"`
	GoodQuality []string  `yaml:"good_quality" doc:"what stands at quality when the value is good, where the device has words or numbers of its own: everything else is Bad"`
	UnitPath    string    `yaml:"unit_path" doc:"path of the unit in a JSON payload: another unit than the configured one makes the value Bad"`
	Encoding    string    `yaml:"encoding" doc:"the value is registers: hex, base64, or binary for a payload of plain bytes. Default: it is a number or a word"`
	Word        int       `yaml:"word" doc:"the first register of the value in those bytes, counted from 0"`
	Type        string    `yaml:"type" doc:"of registers: int16 uint16 int32 uint32 int64 uint64 float32 float64 bcd16 bcd32, or bool with bit. Default uint16"`
	Order       string    `yaml:"order" doc:"of registers: ABCD CDAB BADC DCBA. Default ABCD"`
	Bit         *int      `yaml:"bit" doc:"of registers: one bit of one, 0 (least) to 15: the value is 0 or 1"`
	Scale       *float64  `yaml:"scale" doc:"the raw number times this. Default 1"`
	Offset      float64   `yaml:"offset" doc:"added after the scale, in unit"`
	Unit        string    `yaml:"unit" doc:"engineering unit of the result; text: the value is words, not a number"`
	Range       []float64 `yaml:"range" doc:"[low, high] in unit: a value outside is Bad"`
	Bad         []float64 `yaml:"bad" doc:"raw numbers that mean no value: Bad"`
	// ExpectEvery is the usual silence between messages.
	ExpectEvery time.Duration `yaml:"expect_every" doc:"usual interval between messages; when one is overdue by half as long the point is Bad, with an event. Default: none"`
}

// Session has the choices about the sessions themselves; the zero value is right for the daemon.
type Session struct {
	// Clean asks the broker for a session that leaves nothing behind, under a random client id: for looking on
	// beside a running daemon. Nothing is remembered, and what was published while away does not come.
	Clean bool
	// MaxPacket is the largest packet taken from a broker, in bytes; 0 means 64 KiB. Of a larger message the
	// beginning goes to Host.Refuse, and the rest is thrown away unread.
	MaxPacket int
	// Dial opens the network connection; nil means a net.Dialer. It must heed ctx.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// clientID is the client id of the device's session.
func (d Device) clientID() string {
	if d.ClientID == "" {
		return "gauger-" + d.Name
	}
	return d.ClientID
}

// textUnit is the unit of a point whose values are words.
const textUnit = "text"

// maxBirth is the packet limit of a session with Sparkplug nodes: a birth holds every metric of a node at once.
const maxBirth = 512 << 10

// settings are common to the connections of a session and its committer. They are fixed after New.
type settings struct {
	client      string // id
	label       string // the names of its devices, with commas between
	clean       bool
	limit       int // bytes of a packet
	presence    presence
	credentials credentials
	dial        dialFunc // nil: tcpDial
}

func newSettings(d Device, opt Session) *settings {
	s := &settings{
		client: d.clientID(), clean: opt.Clean, limit: opt.MaxPacket, presence: newPresence(d, opt.Clean), dial: opt.Dial,
		credentials: credentials{username: d.Username, password: d.Password, files: collectors.TLSFiles{CA: d.CAFile, Cert: d.CertFile, Key: d.KeyFile}, server: d.Server},
	}
	if s.clean {
		s.client = fmt.Sprintf("gauger-%08x", rand.Uint32())
	}
	s.limit = cmp.Or(s.limit, maxPacket)
	s.limit = max(s.limit, minPacket)
	return s
}

func (s *settings) addDevice(d Device) {
	s.label = strings.TrimPrefix(s.label+","+d.Name, ",")
	for _, p := range d.Points {
		if p.Sparkplug != "" {
			s.limit = max(s.limit, maxBirth)
		}
	}
}

// credentials are shown to a broker at every connection.
type credentials struct {
	username string
	password func() (string, error)
	files    collectors.TLSFiles
	server   string // the name in the certificate; empty: the host's
}
