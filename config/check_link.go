package config

import "fmt"

// leastDay is the least number of bytes a day that lets a site work: a request that needs a new connection takes some
// 7 KB, most of it the service's certificates, and so does each attempt at a service that is out of order.
const leastDay = 100_000

func (c *checker) link() {
	l := c.cfg.Link
	if l.MaxBytesPerDay > 0 && l.MaxBytesPerDay < leastDay {
		c.problemf("link.max_bytes_per_day", "%d bytes are a dozen requests a day; write at least 100kB, or 0 for no limit", int64(l.MaxBytesPerDay))
	}
	for i, w := range l.Windows {
		if w.From == w.To {
			c.problemf(fmt.Sprintf("link.windows[%d]", i), "begins and ends at %s; leave the windows out if values may leave at any time", w.From)
		}
	}
}
