//go:build packedzones

package zone

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"
	"strconv"
	"strings"
)

// archive is what deploy/zones makes: packed lines of name, offset and length, an empty line, and the zones.
//
//go:embed bin/zones
var archive []byte

// packed finds a zone in the archive, which is unpacked for it and forgotten again: it happens once, at the start.
func packed(name string) (data []byte, ok bool) {
	all, err := io.ReadAll(flate.NewReader(bytes.NewReader(archive)))
	index, body, found := strings.Cut(string(all), "\n\n")
	if err != nil || !found {
		return nil, false
	}
	for line := range strings.Lines(index) {
		f := strings.Split(strings.TrimSpace(line), " ")
		if f[0] != name {
			continue
		}
		offset, err1 := strconv.Atoi(f[1])
		length, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || offset+length > len(body) {
			return nil, false
		}
		return []byte(body[offset : offset+length]), true
	}
	return nil, false
}
