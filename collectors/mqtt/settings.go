package mqtt

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gauger/collectors"
)

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
	if s.limit == 0 {
		s.limit = maxPacket
	}
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
