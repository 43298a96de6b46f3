// Package zone finds time zones by name, also on a box without a zone database: gauger brings its own along. A program
// built by make has it packed; a plain go build takes Go's, which is a third of a megabyte longer.
package zone

import "time"

// Load is the zone of that name in the IANA database, as America/Chicago. The box's database goes first, since it may be
// newer.
func Load(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err == nil {
		return zone, nil
	}
	if data, ok := packed(name); ok {
		return time.LoadLocationFromTZData(name, data)
	}
	return nil, err
}
