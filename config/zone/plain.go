//go:build !packedzones

package zone

import _ "time/tzdata" // time.LoadLocation finds it by itself

func packed(string) ([]byte, bool) { return nil, false }
