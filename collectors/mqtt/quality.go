package mqtt

import (
	"errors"
	"fmt"
	"strings"

	"gauger/collectors"
)

// OPC is a quality as OPC and Sparkplug number it: 192 is good, 0 bad, 500 stale.
type OPC int64

const (
	opcUntold    OPC = -1
	opcUncertain OPC = 64
	opcBad       OPC = 128
	opcGood      OPC = 192
	opcBeyond    OPC = 256
)

// Judge turns the number into a quality, and says why it is not good.
func (q OPC) Judge() (collectors.Quality, error) {
	switch {
	case q == opcUntold, q >= opcGood && q < opcBeyond:
		return collectors.Good, nil
	case q >= opcUncertain && q < opcBad:
		return collectors.Uncertain, fmt.Errorf("the device calls it uncertain (quality %d)", q)
	case q == 500:
		return collectors.Bad, errors.New("the device calls it stale (quality 500)")
	}
	return collectors.Bad, fmt.Errorf("the device calls it bad (quality %d)", q)
}

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
	if n, err := parseNumber(text); err == nil && n == float64(OPC(n)) && n >= 0 {
		return OPC(n).Judge()
	}
	return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
}
