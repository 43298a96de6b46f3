package mqtt

import (
	"errors"
	"fmt"
	"strings"

	"gauger/collectors"
)

// opc is a quality as OPC and Sparkplug number it: 192 is good, 0 bad, 500 stale.
type opc int64

const (
	opcUntold    opc = -1
	opcUncertain opc = 64
	opcBad       opc = 128
	opcGood      opc = 192
	opcBeyond    opc = 256
)

// judge turns the number into a quality, and says why it is not good.
func (q opc) judge() (collectors.Quality, error) {
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

// qualityWord judges what a device writes as the quality of a value: a word, true or false, or an OPC number.
func qualityWord(text string, good []string) (collectors.Quality, error) {
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
	if n, err := number(text); err == nil && n == float64(opc(n)) && n >= 0 {
		return opc(n).judge()
	}
	return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
}
