package cloud

import "context"

// Save encodes records as the client's wire has them, posts them in one request, and makes an error of everything but stored.
func Save[R any](ctx context.Context, c *Client, op Operation, address string, encode func(Wire, R) ([]byte, error), records ...R) error {
	var bodies [][]byte
	for _, r := range records {
		b, err := encode(c.wire, r)
		if err != nil {
			return err
		}
		bodies = append(bodies, b)
	}
	if a := c.Post(ctx, op, address, bodies, 0, 0); a.Class != Stored {
		return &Error{Op: op, Answer: a}
	}
	return nil
}

// EncodeTargets is Wire.EncodeTargets without the warning.
func EncodeTargets(w Wire, s ValueSet) ([]byte, error) {
	b, _, err := w.EncodeTargets(s)
	return b, err
}
