package apply

import (
	"fmt"
	"slices"
	"strings"

	"gauger/config"
)

// effects say what a change does beside what it says, by the beginning of its path; the first that fits counts.
var effects = []struct{ path, does string }{
	{"id", "tickets that get their number from now on begin with it; those that have one keep it"},
	{"time_zone", "tickets and production days that are not closed yet go by it"},
	{"production_day", "the day that is open ends by it"},
	{"service.primary_key", "the keys in the ring stay; a new one is taken in"},
	{"service.secondary_key", "the keys in the ring stay; a new one is taken in"},
	{"service.wire.level_unit", oldUnits},
	{"service.wire.temperature_unit", oldUnits},
	{"service.wire.gravity", oldUnits},
	{"service.wire.bsw", oldUnits},
	{"service.wire.time_zone", oldUnits},
	{"service.wire.time_layout", oldUnits},
	{"service", "what waits leaves by it as it was written"},
	{"store", "the outbox is closed and opened again; what is in it stays"},
	{"loads", "a load under way ends by the old one; those that begin from now on are judged by it"},
	{"tickets", "held tickets leave by it"},
	{"devices", "its readings pause for a moment, with those of devices on the same line, shared address or MQTT session"},
	{"events", "an alarm that is open is judged by it"},
	{"http", "the page is closed and opened again"},
}

const oldUnits = "held tickets are written by it; those that wait leave AS THEY WERE WRITTEN, by the old: `gauger status` then names them"

// numberKeys are those of a point that make its number.
var numberKeys = []string{"unit", "scale", "offset", "type", "order", "holding", "input", "modicon", "topic", "value"}

// tankEffects are those of a tank's keys, by the key.
var tankEffects = map[string]string{
	"":                 "",
	"level":            "its level is read elsewhere: a load under way is finished by the old one if that is still read, and its ticket needs a review; no ticket is made of the difference",
	"production":       "the tank book counts from what it shows first",
	"loads":            "a load under way ends by the old one; those that begin from now on are judged by it",
	"product":          "a load under way ends by the old one",
	"purchaser":        "tickets that are made from now on name it",
	"comments":         "tickets that are made from now on have it",
	"sales":            "a load under way ends by the old one; falls from now on are judged by it",
	"object":           "events from now on name it",
	"object_type":      "events from now on name it",
	"load_valve":       "the seals of loads from now on go by it",
	"temperatures":     "tickets that are made from now on go by it",
	"group":            "loads from now on are judged by it",
	"strapping":        "a load under way is finished by the old table; held tickets keep theirs",
	"offset":           "a load under way is finished by the old one, and its ticket needs a review; levels before are put right",
	"height":           "a load under way is finished by the old one, and its ticket needs a review",
	"sensor":           "a load under way is finished by the old one",
	"interface":        "water is told from oil by it from now on",
	"bsw":              "tickets that are made from now on have it",
	"diameter":         "a load under way is finished by the old table; held tickets keep theirs; where there is a strapping table it measures nothing",
	"specific_gravity": "tickets that are made from now on have it",
}

// Effect says what a change does to loads under way and to what waits; empty: nothing worth a word.
func Effect(c config.Change) string {
	if rest, ok := strings.CutPrefix(c.Path, "tanks "); ok {
		_, key, _ := strings.Cut(rest, " ")
		key, _, _ = strings.Cut(key, " ")
		switch {
		case c.Added():
			return "its levels are judged from the first one on"
		case c.Removed():
			return "it makes no tickets any more; those that are held or queued leave"
		}
		return tankEffects[key]
	}
	if words := strings.Fields(c.Path); words[0] == "devices" && slices.Contains(words, "points") && slices.Contains(numberKeys, words[len(words)-1]) && !c.Added() && !c.Removed() {
		return "the same signal is ANOTHER NUMBER from now on: where it is a tank's level, so are the barrels of its tickets, which is money; gauge it with `gauger commission`"
	}
	for _, e := range effects {
		if c.Path == e.path || strings.HasPrefix(c.Path, e.path+".") || strings.HasPrefix(c.Path, e.path+" ") {
			if e.path == "devices" && (c.Added() || c.Removed()) {
				return ""
			}
			return e.does
		}
	}
	return ""
}

// Words are changes in sentences, each with what it does.
func Words(all []config.Change) (words []string) {
	for _, c := range all {
		text := c.String()
		if does := Effect(c); does != "" {
			text += ": " + does
		}
		words = append(words, text)
	}
	return words
}

// Refusals say why a configuration cannot take the place of another one while gauger runs, or would cost records; forNow are those that
// may be none in an hour, and say nothing of the file. used are the bytes that each stream of the outbox has in use, loading the
// tanks that are being hauled.
func Refusals(now, old *config.Config, all []config.Change, used map[string]int64, loading []string) (why, forNow []string) {
	for _, p := range slices.Concat(now.Strict, now.Slow) {
		if !slices.ContainsFunc(slices.Concat(old.Strict, old.Slow), func(o config.Problem) bool { return o.Message == p.Message }) {
			why = append(why, p.String())
		}
	}
	for _, c := range all {
		id, isTank := strings.CutPrefix(c.Path, "tanks ")
		switch {
		case c.Path == "store.path":
			why = append(why, "store.path: queue, numbers and tanks would stay behind in "+c.Old+"; stop gauger, move that folder to "+c.New+", then start with the new file")
		case strings.HasSuffix(c.Path, "loads.speed") || strings.HasSuffix(c.Path, " loads speed"):
			why = append(why, c.Path+": what the levels did would be forgotten; stop gauger, then start with the new file")
		case isTank && c.Removed() && slices.Contains(loading, id):
			forNow = append(forNow, "tanks: "+id+" is being hauled, and would make no ticket; take it out when the load is over")
		}
	}
	return why, append(forNow, tooSmall(now, old, used)...)
}

// tooSmall says where records would give way to a smaller outbox, or a smaller share of it. Four fifths of it take records.
func tooSmall(now, old *config.Config, used map[string]int64) (why []string) {
	room, total := int64(now.Store.MaxBytes)*4/5, int64(0)
	for _, n := range used {
		total += n
	}
	if total > room && now.Store.MaxBytes < old.Store.MaxBytes {
		why = append(why, fmt.Sprintf("store.max_bytes: the records in the outbox take %d kB, and %s have room for %d kB: records would give way", total>>10, now.Store.MaxBytes, room>>10))
	}
	for _, s := range []struct {
		key, stream string
		was, is     int
	}{
		{"events", "events", old.Store.Shares.Events, now.Store.Shares.Events}, {"tag_values", "tagvalues", old.Store.Shares.TagValues, now.Store.Shares.TagValues},
		{"targets", "targets", old.Store.Shares.Targets, now.Store.Shares.Targets}, {"refused", "refused", old.Store.Shares.Refused, now.Store.Shares.Refused},
	} {
		if most := room * int64(s.is) / 100; s.is < s.was && used[s.stream] > most {
			why = append(why, fmt.Sprintf("store.shares.%s: they take %d kB, and %d %% have room for %d kB: records would give way", s.key, used[s.stream]>>10, s.is, most>>10))
		}
	}
	return why
}
