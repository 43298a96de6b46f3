package mqtt

import (
	"errors"
	"fmt"
	"strings"

	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// parseQuality judges what a device writes as the quality of a value: a word, true or false, or an OPC number.
func parseQuality(text string, good []string) (collectors.Quality, error) {
	text = strings.TrimSpace(text)
	if len(good) > 0 {
		for _, word := range good {
			if strings.EqualFold(text, word) {
				return collectors.Good, nil
			}
		}
		return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
	}
	switch strings.ToLower(text) {
	case "good", "ok", "valid", "true":
		return collectors.Good, nil
	case "uncertain":
		return collectors.Uncertain, errors.New("the device calls it uncertain")
	}
	if n, err := parseNumber(text); err == nil && n == float64(sparkplug.OPC(n)) && n >= 0 {
		return sparkplug.OPC(n).Judge()
	}
	return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
}
