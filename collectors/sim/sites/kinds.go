package sites

import "hash/fnv"

// Kind is a kind of site.
type Kind struct {
	Name string // in the field's words
	make func(*plan)
}

// HeldOut says that the kind is never looked at while tuning: one of three, by the hash of its name.
func (k Kind) HeldOut() bool {
	h := fnv.New32a()
	h.Write([]byte(k.Name))
	return h.Sum32()%3 == 0
}

// Make makes one site of the kind.
func (k Kind) Make(seed, number uint64) *Site {
	p := newPlan(k.Name, seed, number)
	k.make(p)
	return p.build()
}

// Kinds lists the kinds for tuning, or those held out.
func Kinds(tuning bool) []Kind {
	var list []Kind
	for _, of := range [][]Kind{pumpKinds, feedKinds, tankKinds, sensorKinds, disturbedKinds, recorderKinds, mixedKinds, idleKinds} {
		for _, k := range of {
			if k.HeldOut() != tuning {
				list = append(list, k)
			}
		}
	}
	return list
}
