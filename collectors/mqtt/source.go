package mqtt

import (
	"fmt"
	"strings"
)

// Source says where the number of a point is found and how its bits become one, before scale, offset and unit: what two
// configurations say alike is the same number. It is stored: another wording would look like another gauge. Through which
// broker it comes says nothing of that.
func (d Device) Source(p Point) string {
	said := []string{d.Name, "topic " + withoutGroup(p.Topic)}
	if p.Sparkplug != "" {
		said[1] = p.Sparkplug + ", metric " + p.Metric
	}
	if p.Value != "" {
		said = append(said, "value "+p.Value)
	}
	if w, err := p.parseRegisterOptions(); err == nil && w != nil {
		said = append(said, fmt.Sprintf("%s, word %d, %s %s", w.encoding, p.Word, w.kind, w.order.Of(w.kind.Registers())))
		if w.bit >= 0 {
			said = append(said, fmt.Sprintf("bit %d", w.bit))
		}
	}
	return strings.Join(said, ", ")
}
