package collectors

import "strings"

// Problem is one mistake in a device's options, as the Check functions of the device kinds return it.
type Problem struct {
	// Path is the place within the device, in the configuration's own keys: "points[2].holding"; empty for the device itself.
	Path string
	// Message says what is wrong and what would be right.
	Message string
}

// WithoutUser hides what may be a user and password in an address: everything before the last @.
func WithoutUser(address string) string {
	if i := strings.LastIndex(address, "@"); i >= 0 {
		return "..." + address[i:]
	}
	return address
}
