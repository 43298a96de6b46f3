package sparkplug

import (
	"errors"
	"fmt"

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

// Judge turns the number into a quality, and says why it is not good. A metric without one is good.
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
