package ledger

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tankbook"
	"gauger/outbox"
)

// shardKey is which part of the site a store is of.
const shardKey = "shard"

// HandedAll is the shard of a store whose instance there is to be no more.
const HandedAll = "none"

// handoverFormat is that of the files in which tanks go from one instance to another.
const handoverFormat = 1

// HandedTank is a tank as one instance hands it over to another: what the detector has seen of it, a load under way included, how it
// is measured, and what waits. Its tickets that have left, and the closed days of its book, stay where they are.
type HandedTank struct {
	ID        string          `json:"id"`
	State     []byte          `json:"state"`
	Setup     json.RawMessage `json:"setup"`
	Held      []HeldTicket    `json:"held,omitempty"`
	Inhibited []Inhibition    `json:"inhibited,omitempty"`
}

// Handover is a file of tanks that go from one instance of a site to another.
type Handover struct {
	Format int          `json:"format"`
	Site   string       `json:"site"` // its id
	From   string       `json:"from"` // shard; empty: the whole site
	To     string       `json:"to"`
	At     time.Time    `json:"at"`
	Speed  float64      `json:"speed"` // of the site's time
	Tanks  []HandedTank `json:"tanks"`
}

// CheckShard refuses a store that is another part of the site's than this instance watches: a load under way would be lost there, or
// told twice. A store without tanks is anybody's, and the instance's from now on.
func CheckShard(box *outbox.Box, shard string) error {
	h := handing{box: box}
	if err := h.loadJSON(shardKey, &h.shard); err != nil || h.shard == shard {
		return err
	}
	if err := h.load(); err != nil {
		return err
	}
	switch {
	case h.shard == HandedAll:
		return errors.New("all tanks of this store were handed over, and others watch them: switch this instance off, and keep the folder for its list of tickets")
	case len(h.setups) == 0:
		return h.store(shard)
	case h.shard == "":
		return fmt.Errorf("this store is of the whole site, with %s, and not of shard %s: stop gauger, and `gauger tanks export --shards N` hands the others over", Plural(len(h.setups), "tank"), shard)
	case shard == "":
		return fmt.Errorf("this store is of shard %s, and not of the whole site: give --shard %s", h.shard, h.shard)
	}
	return fmt.Errorf("this store is of shard %s, and not of shard %s: `gauger tanks export` hands its tanks over before the number of shards changes", h.shard, shard)
}

// handing is what of a store a handover is about.
type handing struct {
	box       *outbox.Box
	shard     string
	setups    []json.RawMessage // in the order of the tanks
	tanks     tank.State
	book      tankbook.Book
	held      []HeldTicket
	inhibited []Inhibition
}

func (h *handing) load() error {
	for _, part := range []struct {
		name string
		into any
	}{{shardKey, &h.shard}, {setupsKey, &h.setups}, {heldKey, &h.held}, {inhibitionsKey, &h.inhibited}} {
		if err := h.loadJSON(part.name, part.into); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		into encoding.BinaryUnmarshaler
	}{{tanksKey, &h.tanks}, {openDaysKey, &h.book}} {
		if _, err := loadPacked(h.box, part.name, part.into); err != nil {
			return fmt.Errorf("read what the store has under %s: %w", part.name, err)
		}
	}
	return nil
}

func (h *handing) loadJSON(name string, into any) error {
	b, err := h.box.Get(name)
	if err == nil && b != nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("read what the store has under %s: %w", name, err)
	}
	return nil
}

// store keeps all of it, as that of a shard.
func (h *handing) store(shard string) error {
	values := map[string][]byte{}
	for name, v := range map[string]any{shardKey: shard, setupsKey: h.setups, heldKey: h.held, inhibitionsKey: h.inhibited} {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("write down %s: %w", name, err)
		}
		values[name] = b
	}
	if h.setups == nil {
		delete(values, setupsKey) // none were ever known
	}
	for name, v := range map[string]encoding.BinaryMarshaler{tanksKey: h.tanks, openDaysKey: h.book} {
		b, err := packedState(v)
		if err != nil {
			return fmt.Errorf("write down %s: %w", name, err)
		}
		values[name] = b
	}
	return h.box.Update(func(tx *outbox.Tx) error {
		for name, b := range values {
			tx.Put(name, b)
		}
		return nil
	})
}

// ids are those of the store's tanks.
func (h *handing) ids() ([]string, error) {
	ids := make([]string, len(h.setups))
	for i, raw := range h.setups {
		var s struct{ ID string }
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read how the tanks are measured: %w", err)
		}
		ids[i] = s.ID
	}
	return ids, nil
}

// HandOver takes tanks out of a store that nothing runs on: to says to which shard each of them goes that this one does not keep, which
// is to be the shard stays, or none any more: then its records must have left before. keep writes the files, to the disk, before
// anything is taken out.
func HandOver(box *outbox.Box, site Site, shard string, to func(id string) (shard string, goes bool), stays string, keep func([]Handover) error) error {
	if err := CheckShard(box, shard); err != nil {
		return err
	}
	h := handing{box: box}
	if err := h.load(); err != nil {
		return err
	}
	if names, err := box.Names(deferredKey); err != nil || len(names) > 0 {
		return errors.Join(err, fmt.Errorf("%s wait for the clock to be believed: let gauger run until they have left", Plural(len(names), "record")))
	}
	for stream, c := range box.Counts() {
		if stays == HandedAll && c.Waiting > 0 && stream != Refused {
			return fmt.Errorf("%s of %s have not left, and nobody would send them: let gauger run until they have", Plural(int(c.Waiting), "record"), stream)
		}
	}
	ids, err := h.ids()
	if err != nil {
		return err
	}
	files, kept := map[string]*Handover{}, []int{}
	for i, id := range ids {
		shard, goes := to(id)
		if !goes {
			kept = append(kept, i)
			continue
		}
		state, err := h.tanks.Arranged([]int{i}).MarshalBinary()
		if err != nil {
			return fmt.Errorf("write down the state of tank %s: %w", id, err)
		}
		f := files[shard]
		if f == nil {
			f = &Handover{Format: handoverFormat, Site: site.ID, From: h.shard, To: shard, At: time.Now().Round(0), Speed: site.speed()}
			files[shard] = f
		}
		t := HandedTank{ID: id, State: state, Setup: h.setups[i]}
		h.held = slices.DeleteFunc(h.held, func(x HeldTicket) bool { return move(&t.Held, x, x.Load.Tank == id) })
		h.inhibited = slices.DeleteFunc(h.inhibited, func(x Inhibition) bool { return move(&t.Inhibited, x, x.Tank == id) })
		f.Tanks = append(f.Tanks, t)
	}
	var all []Handover
	for _, f := range files {
		all = append(all, *f)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].To < all[j].To }) // slices.SortFunc costs the binary 20 kB for a struct of this size
	if err := keep(all); err != nil {
		return err
	}
	setups := []json.RawMessage{}
	for _, i := range kept {
		setups = append(setups, h.setups[i])
	}
	h.setups, h.tanks, h.book = setups, h.tanks.Arranged(kept), h.book.Arranged(kept)
	return h.store(stays)
}

// move appends x if it is to go, and says so.
func move[T any](to *[]T, x T, goes bool) bool {
	if goes {
		*to = append(*to, x)
	}
	return goes
}

// TakeOver puts the tanks of a file into the store of the shard that they are for, on which nothing runs.
func TakeOver(box *outbox.Box, site Site, shard string, f Handover) error {
	h := handing{box: box}
	if err := h.load(); err != nil {
		return err
	}
	ids, err := h.ids()
	if err != nil {
		return err
	}
	switch {
	case f.Format != handoverFormat:
		return fmt.Errorf("a file of format %d; this gauger reads %d", f.Format, handoverFormat)
	case f.Site != site.ID:
		return fmt.Errorf("its tanks are of site %s, and this is site %s", f.Site, site.ID)
	case f.To != shard:
		return fmt.Errorf("its tanks are for shard %s, and this is shard %s", f.To, shard)
	case h.shard != shard && len(ids) > 0:
		return fmt.Errorf("this store is of shard %q, and not of %q", h.shard, shard)
	case f.Speed != site.speed():
		return fmt.Errorf("its tanks count time %g times as fast, and this site's %g times", f.Speed, site.speed())
	}
	n := len(ids)
	h.tanks, h.book = h.tanks.Arranged(upTo(n)), h.book.Arranged(upTo(n))
	for _, t := range f.Tanks {
		switch {
		case slices.Contains(ids, t.ID):
			return fmt.Errorf("tank %s is in this store already", t.ID)
		case site.tank(t.ID) == nil:
			return fmt.Errorf("tank %s is not in the configuration of shard %s", t.ID, shard)
		}
		var state tank.State
		if err := state.UnmarshalBinary(t.State); err != nil {
			return fmt.Errorf("tank %s: %w", t.ID, err)
		}
		joined, err := h.tanks.Joined(state, 0, site.speed())
		if err != nil { // it was never read: it begins anew here
			joined = h.tanks.Arranged(append(upTo(n), -1))
		}
		n++
		h.tanks, h.setups = joined, append(h.setups, t.Setup)
		h.held, h.inhibited = append(h.held, t.Held...), append(h.inhibited, t.Inhibited...)
	}
	h.book = h.book.Arranged(append(upTo(len(ids)), slices.Repeat([]int{-1}, len(f.Tanks))...))
	return h.store(shard)
}

// upTo are the numbers from 0 to n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
