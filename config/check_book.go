package config

import (
	"fmt"
	"strings"

	"gauger/collectors"
)

// book checks what the tank book is told.
func (c *checker) book() {
	if limit := c.cfg.Book.LossLimit; !(limit > 0 && limit <= 1000) {
		c.problemf("book.loss_limit", "%g is no limit; write barrels a day such as 0.8", limit)
	}
	meters := map[collectors.Point]int{}
	for i, t := range c.cfg.Tanks {
		if t.Production == "" {
			continue
		}
		if k, twice := meters[t.Production]; twice {
			c.problemf(fmt.Sprintf("tanks[%d].production", i), "%s already counts the production of tanks[%d] (%s); both would be booked all of it", quote(string(t.Production)), k, c.cfg.Tanks[k].ID)
			continue
		}
		meters[t.Production] = i
	}
}

// volumeUnit refuses a production meter that does not count a volume.
func (c *checker) volumeUnit(where string, info PointInfo) {
	switch strings.ToLower(string(info.Unit)) {
	case "bbl", "mbbl", "gal", "m3", "l", "ft3":
	case "":
		c.problemf(c.pointPath(info), "missing; %s counts production: write unit: bbl (or gal, m3, l, ft3, mbbl)", info.Point)
	default:
		c.problemf(where, "%s is in %s, which is no volume; a production meter counts in bbl, gal, m3, l, ft3 or mbbl", info.Point, quote(string(info.Unit)))
	}
}
