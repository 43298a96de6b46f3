package ledger

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// numberMax is the longest ticket number, in characters of A-Z 0-9 and the hyphen; wire.number_max may want a shorter one.
const numberMax = 40

// numberStamp ends a number: the minute in which the load began, in UTC.
const numberStamp = "20060102T1504Z"

// hashChars of a hash take the place of what has no room in a number.
const hashChars = 6

// Number computes the ticket number of a load: prefix, site, tank and the UTC minute in which the load began. The
// same load gives the same number, however often it is computed. A ("automatic") marks gauger's own, M a person's.
func Number(prefix, site, tank string, start time.Time) string {
	return numberWithin(numberMax, prefix, site, tank, start)
}

// number of a load of this site, no longer than the service takes it.
func (s *Site) number(prefix, tank string, start time.Time) string {
	return numberWithin(s.numberMax(), prefix, s.ID, tank, start)
}

// numberMax is the longest number that the service takes.
func (s *Site) numberMax() int {
	if n := s.Wire.NumberMax; n > 0 {
		return min(n, numberMax)
	}
	return numberMax
}

// numberWithin is a number of at most so many characters. Where there is no room for the site, its tank's hash and the
// minute, a hash of all that the number says takes the place of the site and the tank, and at last of the minute too.
func numberWithin(most int, prefix, site, tank string, start time.Time) string {
	stamp := start.UTC().Format(numberStamp)
	if name := fitID(tank, most-len(prefix)-len(site)-len(stamp)-3); len(prefix)+len(site)+len(name)+len(stamp)+3 <= most {
		return prefix + "-" + site + "-" + name + "-" + stamp
	}
	hash := hashOf(site + "/" + tank + "/" + stamp)
	if room := most - len(prefix) - len(stamp) - 2; room >= hashChars {
		return prefix + "-" + hash[:min(room, 2*hashChars)] + "-" + stamp
	}
	return prefix + "-" + hash[:max(hashChars, most-len(prefix)-1)]
}

// hashOf is a text's hash in characters that a number may have.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base32.StdEncoding.EncodeToString(sum[:])[:numberMax]
}

// fitID brings a tank's id into the number's alphabet and length. What had to be changed or cut gets six characters of
// the id's hash, so that two tanks never share a number.
func fitID(id string, room int) string {
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
	hash := hashOf(id)[:hashChars]
	keep := max(0, min(len(plain), room-len(hash)))
	return plain[:keep] + hash
}

// firstFree returns number, or number with the first suffix that is not taken, no longer than most. Numbers collide only when the clock
// stepped back or an older state was restored.
func firstFree(number string, most int, taken func(string) bool) string {
	try := number
	for n := 2; taken(try); n++ {
		suffix := "-" + strconv.Itoa(n)
		try = number[:min(len(number), most-len(suffix))] + suffix
	}
	return try
}
