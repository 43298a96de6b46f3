package config

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"gauger/collectors"
)

// Shard is one of several instances of gauger that share a site of MQTT devices, each with a store of its own: the one of this
// index, from 0, of so many. The zero value is the whole site.
type Shard struct{ Index, Of int }

// ShardVariable is the environment variable by which every command of an instance knows its shard.
const ShardVariable = "GAUGER_SHARD"

const (
	shardsMost  = 1024
	batteryMost = 12 // tanks of one device that belong together, since they pump into each other; one with more is a gateway of many
)

// ParseShard reads "0/3", the first of three; "" is the whole site.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, of, _ := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || n < 1 || n > shardsMost || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("%s is no shard: write which one of how many, counted from 0: 0/3, 1/3 and 2/3 are three", quote(text))
	}
	return Shard{i, n}, nil
}

// String is the shard as it is written; "" is the whole site.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// has says that a key is the shard's, by a hash under which another number of shards moves as few keys as can be (Lamping and
// Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014): from three to four, each key stays or goes to the fourth.
func (s Shard) has(key string) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // a hash refuses nothing
	x, at := h.Sum64(), 0
	for next := 0; next < max(s.Of, 1); {
		at = next
		x = x*2862933555777941757 + 1
		next = int(float64(at+1) * (float64(1<<31) / float64(x>>33+1)))
	}
	return at == s.Index
}

// checkShard refuses devices that several instances cannot share.
func (c *checker) checkShard() {
	if c.cfg.Shard.Of == 0 {
		return
	}
	for i, dev := range c.cfg.Devices {
		if dev.Kind() == "modbus" {
			c.problemf(fmt.Sprintf("devices[%d].modbus", i), "a shard (%s) reads MQTT only: several masters would ask this device for the same; run one gauger without --shard for it", c.cfg.Shard)
		}
	}
}

// belongings tell what is judged together: tanks of a group, and those of a device that is a battery. Each is known by the first
// that the configuration names of it, so that what is added behind moves nothing.
type belongings struct {
	above   map[string]string
	gateway map[string]bool // devices of more than a battery
}

// belongings of the configuration's tanks.
func (c *Config) belongings() *belongings {
	b := &belongings{above: map[string]string{}, gateway: map[string]bool{}}
	tanks := map[string]int{}
	for _, t := range c.Tanks {
		device, _, _ := strings.Cut(string(t.Level), "/")
		tanks[device]++
		b.gateway[device] = tanks[device] > batteryMost
	}
	for _, t := range c.Tanks {
		if t.Group != "" {
			b.join("group "+t.Group, b.ofPoint(t.Level))
		}
		for _, ref := range t.PointRefs() {
			if ref.Point != "" {
				b.join(b.ofPoint(t.Level), b.ofPoint(ref.Point))
			}
		}
	}
	return b
}

// ofPoint is what a point belongs to: its device, or itself where that is a gateway.
func (b *belongings) ofPoint(p collectors.Point) string {
	if device, _, _ := strings.Cut(string(p), "/"); !b.gateway[device] {
		return device
	}
	return string(p)
}

// key is the name of all that belongs to x.
func (b *belongings) key(x string) string {
	for b.above[x] != "" {
		x = b.above[x]
	}
	return x
}

func (b *belongings) join(x, y string) {
	if first, other := b.key(x), b.key(y); first != other {
		b.above[other] = first
	}
}

// takeShard leaves of the site what the shard watches: its tanks with all their points, and the devices, events and values of the
// points that hash to it. The box's own points are watched by every instance, for each has a box.
func (c *Config) takeShard() {
	if c.Shard.Of == 0 {
		return
	}
	b, own := c.belongings(), map[string]bool{}
	for _, dev := range c.Devices {
		own[dev.Name] = dev.Kind() == "host"
	}
	has := func(p collectors.Point) bool { return c.Shard.has(b.key(b.ofPoint(p))) }
	watched := func(p collectors.Point) bool {
		device, _, _ := strings.Cut(string(p), "/")
		return own[device] || has(p)
	}
	var tanks []Tank
	for i, t := range c.Tanks {
		if has(t.Level) {
			tanks, c.tankAt = append(tanks, t), append(c.tankAt, i)
		}
	}
	c.Tanks = tanks
	for i := range c.Devices {
		c.Devices[i].Keep(watched)
	}
	c.Devices = slices.DeleteFunc(c.Devices, Device.Empty)
	c.Events = slices.DeleteFunc(c.Events, func(e Event) bool { return !watched(e.Point) })
	for i := range c.Wells {
		w := &c.Wells[i]
		w.TagValues = slices.DeleteFunc(w.TagValues, func(v TagValue) bool { return !has(v.Point) })
		w.Targets = slices.DeleteFunc(w.Targets, func(v Target) bool { return !has(v.Point) })
	}
	c.Wells = slices.DeleteFunc(c.Wells, func(w Well) bool { return len(w.TagValues)+len(w.Targets) == 0 })
}
