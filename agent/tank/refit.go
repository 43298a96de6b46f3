package tank

import (
	"encoding/json"
	"fmt"
)

// Arranged is the state for another list of tanks: from says, for each of them, which tank of this state it was; a
// number that is none begins anew.
func (st State) Arranged(from []int) State {
	old := st.tanks
	st.tanks = make([]*vessel, len(from))
	for i, k := range from {
		st.tanks[i] = &vessel{}
		if k >= 0 && k < len(old) && old[k] != nil {
			st.tanks[i] = old[k]
		}
	}
	st.mark++
	return st
}

// Shifted is the state in which every level of a tank reads so many inches higher: its offset was changed, and what is
// known of it must not look like a movement.
func (st State) Shifted(i int, by Length) State {
	if i < 0 || i >= len(st.tanks) || by == 0 {
		return st
	}
	st = st.fresh(len(st.tanks))
	v, up := *st.tanks[i], float64(by)
	for _, x := range []*float64{&v.last.v, &v.pend.first.v, &v.pend.last.v, &v.kept, &v.loss.at} {
		*x += up
	}
	v.bin.sv += up * float64(v.bin.n)
	v.buf, v.hist, v.water = raised(v.buf, up, bufferMost), raised(v.hist, up, histMost), raised(v.water, up, waterMost)
	v.told = append([]told(nil), v.told...)
	for k := range v.told {
		v.told[k].open += up
		v.told[k].close += up
	}
	st.tanks[i] = &v
	st.mark++
	return st
}

// raised is a copy of samples, so many inches higher, with the room that they grow into.
func raised(b []sample, up float64, most int) []sample {
	if b == nil {
		return nil
	}
	out := make([]sample, len(b), max(len(b), most))
	for k, s := range b {
		s.v = grained(s.t, float64(s.v)+up, 1).v
		out[k] = s
	}
	return out
}

// table is a Table as it is stored.
type table struct {
	Name string       `json:"name"`
	Rows [][2]float64 `json:"rows"`
}

// MarshalJSON writes the name and the rows of inches and barrels.
func (t Table) MarshalJSON() ([]byte, error) {
	out := table{Name: t.name}
	for i := range t.in {
		out.Rows = append(out.Rows, [2]float64{t.in[i], t.bbl[i]})
	}
	return json.Marshal(out)
}

// UnmarshalJSON takes a stored table back; rows that make no table are an error.
func (t *Table) UnmarshalJSON(b []byte) error {
	var in table
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("read a table of volumes: %w", err)
	}
	n, err := NewTable(in.Rows)
	if err != nil {
		return err
	}
	n.name = in.Name
	*t = n
	return nil
}

// Same says that two tables give the same volumes for the same reason.
func (t Table) Same(o Table) bool {
	if t.name != o.name || len(t.in) != len(o.in) {
		return false
	}
	for i := range t.in {
		if t.in[i] != o.in[i] || t.bbl[i] != o.bbl[i] {
			return false
		}
	}
	return true
}
