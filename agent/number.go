package agent

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// numberMax is the longest ticket number, in characters of A-Z 0-9 and the hyphen.
const numberMax = 40

// Number computes the ticket number of a load: prefix, site, tank and the UTC minute in which the load began. The
// same load gives the same number, however often it is computed. A ("automatic") marks gauger's own, M a person's.
func Number(prefix, site, tank string, start time.Time) string {
	stamp := start.UTC().Format("20060102T1504Z")
	room := numberMax - len(prefix) - len(site) - len(stamp) - 3
	return prefix + "-" + site + "-" + fit(tank, room) + "-" + stamp
}

// fit brings a tank's id into the number's alphabet and length. What had to be changed or cut gets six characters of
// the id's hash, so that two tanks never share a number.
func fit(id string, room int) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return -1
	}, id)
	if plain == id && len(id) <= room {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	hash := base32.StdEncoding.EncodeToString(sum[:])[:6]
	keep := max(0, min(len(plain), room-len(hash)))
	return plain[:keep] + hash
}

// Unused returns number, or number with the first suffix that is not taken. Numbers collide only when the clock
// stepped back or an older state was restored.
func unused(number string, taken func(string) bool) string {
	if !taken(number) {
		return number
	}
	for n := 2; ; n++ {
		suffix := "-" + strconv.Itoa(n)
		try := number[:min(len(number), numberMax-len(suffix))] + suffix
		if !taken(try) {
			return try
		}
	}
}
